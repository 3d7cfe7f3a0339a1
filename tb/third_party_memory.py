"""cocotbext-axi's memory behind an AXI4 manager port: a check of the port that is not ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

from cocotbext.axi import AxiBus, AxiRam

from racetrap.tb.testbench import Testbench

_PAUSED = 0.3


def _pauses(rng: Random) -> Iterator[bool]:
    while True:
        yield rng.random() < _PAUSED


def pause_at_random(channels: Iterable[Any], rng: Random) -> None:
    """Let channels of cocotbext-axi's models pause, each on its own."""
    for channel in channels:
        channel.set_pause_generator(_pauses(Random(rng.random())))


class ThirdPartyMemory:
    """Memory behind ``port`` that pauses each channel at random.

    Parameters
    ----------
    testbench : Testbench
        Shared context.
    port : str
        Port of the device, such as ``m_axi_metadata__0``.
    word_bytes : int
        Bytes of a word.
    """

    def __init__(self, testbench: Testbench, port: str, word_bytes: int):
        self._word_bytes = word_bytes
        dut = testbench.pins.dut
        bus = AxiBus.from_prefix(dut, f"{port}_")
        self._ram = AxiRam(
            bus, dut.clk, dut.rst, size=1 << 62
        )  # sparse; no length in Python is larger
        write, read = self._ram.write_if, self._ram.read_if
        channels = (
            write.aw_channel, write.w_channel, write.b_channel, read.ar_channel, read.r_channel,
        )  # fmt: skip
        pause_at_random(channels, testbench.random(f"{port} pauses"))

    def read_word(self, address: int) -> int:
        """Word at a byte address."""
        return int.from_bytes(self._ram.read(address, self._word_bytes), "little")
