"""A link in its loop in Amaranth's simulator, with the golden device beside it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.sim import Simulator

from racetrap.golden_model.link.hello import Hello
from racetrap.rtl.link.link import Link
from tests.support.link.faults import BadLine
from tests.support.link.loopback import LoopParams, add_loop
from tests.support.link.traffic import Beside, Traffic

#: Cycles after which a link that has not begun its reply gives none.
_PATIENCE = 2000


class LinkBench:
    """Gives bytes to a link and takes those that it sends.

    Parameters
    ----------
    params : LoopParams
        Loop around the link.
    make : callable
        Makes the link.

    Attributes
    ----------
    errors : int
        Pulses of ``o_error``.
    """

    def __init__(self, params: LoopParams, make: Callable[[Hello], Any] = Link):
        self._params, self._link = params, make(params.hello)
        self._open, self._reset = Signal(), Signal()
        m = Module()
        m.submodules.link = self._link
        add_loop(m, params, self._link, self._open)
        self._simulator = Simulator(ResetInserter(self._reset)(m))
        self._simulator.add_clock(1)
        self._simulator.add_testbench(self._feed, background=True)
        self._simulator.add_testbench(self._take, background=True)
        self._inbox: list[int] = []
        self._outbox = bytearray()
        self._levels = {"open": 0, "reset": 0}
        self._now = self.errors = 0
        self.restart()

    def restart(self) -> None:
        """Begin with a new golden device."""
        self.beside = Beside(self._params, self.play)

    async def _feed(self, ctx: Any) -> None:
        is_byte = False
        while True:
            # A byte in every other cycle.
            is_byte = not is_byte and bool(self._inbox)
            ctx.set(self._link.i.valid, is_byte)
            if is_byte:
                ctx.set(self._link.i.payload, self._inbox.pop(0))
            ctx.set(self._open, self._levels["open"])
            ctx.set(self._reset, self._levels["reset"])
            await ctx.tick()

    async def _take(self, ctx: Any) -> None:
        link = self._link
        ctx.set(link.o.ready, 1)
        while True:
            *_, valid, byte, error = await ctx.tick().sample(
                link.o.valid, link.o.payload, link.o_error
            )
            self.errors += error
            if valid:
                self._outbox.append(byte)

    def run(self, cycles: int) -> None:
        """Let time go on."""
        self._now += cycles
        self._simulator.run_until(self._now)

    def send(self, data: bytes, cycles: int) -> bytes:
        """Give bytes, a byte in two cycles, for so long; what has come out."""
        self._inbox += data
        self.run(cycles)
        sent, self._outbox = bytes(self._outbox), bytearray()
        return sent

    def play(self, data: bytes, due: int) -> bytes:
        """Give bytes, and take as many as are due, and those beyond."""
        sent, waited = self.send(data, 2 * len(data) + 6), 0
        while len(sent) < due and waited < _PATIENCE:
            sent += self.send(b"", 20)
            waited += 20
        return sent + self.send(b"", 4)

    def move(self) -> None:
        """Let records flow from inputs to outputs, in both."""
        self.open(True)
        self.run((self._params.size + 6) * (self._params.credits + 1))
        self.open(False)
        self.beside.target.move()

    def open(self, is_open: bool) -> None:
        """Let records flow in the link's loop, or not."""
        self._levels["open"] = is_open
        self.run(6 if not is_open else 0)

    def reset(self) -> None:
        """Reset the link; what has not been sent is forgotten."""
        self._inbox.clear()
        self._levels["reset"] = 1
        self.run(6)
        self._levels["reset"] = 0
        self.send(b"", 6)
        self.restart()

    def traffic(self, rng: random.Random, requests: int, rate: float = 0.3) -> BadLine:
        """Random requests of a new host over a bad line; gives the line."""
        line = BadLine(self.beside.exchange, rng, rate)
        traffic = Traffic(line, self._params, rng, self.move)
        traffic.play(requests)
        traffic.finish()
        return line
