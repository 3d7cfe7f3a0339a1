"""Top of a board: clock, reset and pins around a device."""

from __future__ import annotations

from amaranth.hdl import ClockDomain, Elaboratable, Module
from amaranth.lib import io

from racetrap.fpga.boards.clocking import SystemClock
from racetrap.fpga.boards.device import LinkedDevice
from racetrap.fpga.boards.table import Board
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of


def device_of(board: Board, params: Params, divisor: int) -> LinkedDevice:
    """The device inside a board's top.

    Raises
    ------
    ValueError
        If the detector has no device, or the parameters do not suit the board.
    """
    system = system_of(params)
    if not system.has("fpga", "device"):
        raise ValueError(f"Detector must be one with a device for boards, not {system.name}")
    device: LinkedDevice = system.own("fpga", "device").device_of(board, params, divisor)
    return device


class BoardTop(Elaboratable):
    """A device with its UART and lights at the pins of a board.

    Parameters
    ----------
    board : Board
        The board.
    params : Params
        Configuration of the detector.

    Raises
    ------
    ValueError
        If the parameters do not suit a board.
    """

    def __init__(self, board: Board, params: Params):
        self._board = board
        self._device = device_of(board, params, board.divisor)

    def elaborate(self, platform):
        m = Module()
        board = self._board
        m.domains.sync = ClockDomain()
        m.submodules.clock = SystemClock(board.family, board.clock_mhz)
        m.submodules.device = device = self._device
        uart = platform.request("uart", 0, dir="-")
        m.submodules.rx = rx = io.Buffer("i", uart.rx)
        m.submodules.tx = tx = io.Buffer("o", uart.tx)
        m.d.comb += [device.i_rx.eq(rx.i), tx.o.eq(device.o_tx)]
        for number, (resource, index, signal) in enumerate(board.lights):
            pins = platform.request(resource, index, dir="-")
            light = io.Buffer("o", getattr(pins, signal) if signal else pins)
            m.submodules[f"light_{number}"] = light
            m.d.comb += light.o.eq(device.o_leds[number])
        return m
