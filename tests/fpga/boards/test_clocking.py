"""Reset of a board: held for RESET_CYCLES after lock, again on a lost lock and on the button."""

from functools import partial
from types import SimpleNamespace

import pytest
from amaranth.hdl import ClockDomain, ClockSignal, Fragment, Module, ResetSignal, Signal
from amaranth.lib import io
from amaranth.sim import Simulator

from racetrap.fpga.boards import clocking
from racetrap.fpga.boards.clocking import RESET_CYCLES, SystemClock

#: Stages of the synchroniser and the register of the reset.
_LATENCY = 4


class _Board:
    """A platform with a clock and perhaps a button, and a PLL that only passes its clock on."""

    default_clk, default_clk_frequency = "clk25", 25_000_000

    def __init__(self, *, has_button):
        self.default_rst = "button" if has_button else None
        self.pins = {
            "clk25": io.SimulationPort("i", 1), "button": io.SimulationPort("i", 1)
        }  # fmt: skip
        self.locked = Signal()

    def request(self, name, *, dir):
        assert dir == "-"
        return self.pins[name]

    def pll(self, input_mhz, clock_mhz, pin, clock, locked):
        assert (input_mhz, clock_mhz) == (25, 48)
        m = Module()
        m.d.comb += [clock.eq(pin), locked.eq(self.locked)]
        return m


def _run(monkeypatch, testbench, *, has_button=True):
    board = _Board(has_button=has_button)
    monkeypatch.setattr(clocking, "_ecp5", board.pll)
    m = Module()
    m.domains.sync = ClockDomain()
    m.domains.pin = ClockDomain(reset_less=True)
    reset = Signal()
    m.d.comb += [board.pins["clk25"].i.eq(ClockSignal("pin")), reset.eq(ResetSignal("sync"))]
    m.submodules.clock = Fragment.get(SystemClock("ecp5", 48), board)
    simulator = Simulator(m)
    simulator.add_clock(1e-6, domain="pin")

    async def held(ctx, most=3 * RESET_CYCLES):
        """Cycles until the reset ends; None if it does not."""
        for cycle in range(most):
            if not ctx.get(reset):
                return cycle
            await ctx.tick("pin")
        return None

    async def wait(ctx, cycles):
        """Levels of the reset meanwhile."""
        levels = []
        for _ in range(cycles):
            await ctx.tick("pin")
            levels.append(ctx.get(reset))
        return levels

    bench = SimpleNamespace(locked=board.locked, button=board.pins["button"].i)
    bench.held, bench.wait = held, wait
    simulator.add_testbench(partial(testbench, bench=bench))
    simulator.run()


def _is_whole(cycles):
    return cycles is not None and RESET_CYCLES <= cycles <= RESET_CYCLES + _LATENCY


def test_reset_from_configuration_on_until_the_lock_has_lasted(monkeypatch):
    async def testbench(ctx, bench):
        assert await bench.wait(ctx, 50) == [1] * 50
        # A lock that goes again on its way counts for nothing.
        ctx.set(bench.locked, 1)
        assert await bench.wait(ctx, RESET_CYCLES - 10) == [1] * (RESET_CYCLES - 10)
        ctx.set(bench.locked, 0)
        assert await bench.wait(ctx, 5) == [1] * 5
        ctx.set(bench.locked, 1)
        assert _is_whole(await bench.held(ctx))
        assert await bench.wait(ctx, 50) == [0] * 50

    _run(monkeypatch, testbench)


@pytest.mark.parametrize("cause", ["locked", "button"])
def test_reset_again(monkeypatch, cause):
    async def testbench(ctx, bench):
        ctx.set(bench.locked, 1)
        assert _is_whole(await bench.held(ctx))
        signal = getattr(bench, cause)
        level = ctx.get(signal)
        ctx.set(signal, not level)
        levels = await bench.wait(ctx, 10)
        assert levels[_LATENCY:] == [1] * (10 - _LATENCY)
        ctx.set(signal, level)
        assert _is_whole(await bench.held(ctx))

    _run(monkeypatch, testbench)


def test_board_without_a_button(monkeypatch):
    async def testbench(ctx, bench):
        ctx.set(bench.locked, 1)
        assert _is_whole(await bench.held(ctx))

    _run(monkeypatch, testbench, has_button=False)
