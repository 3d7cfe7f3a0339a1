"""Streams in Amaranth's simulator: feed one, drain one, with random idle cycles and a deadline.

Payloads are plain integers: pack and unpack them with the golden model's layouts
(``params.packet_layout.pack(packet._asdict())``), so no test knows a field's position.

    sent, got = [1, 2, 3], []
    simulate(dut, put_all(dut.i, sent), get_all(dut.o, 3, got))

Ticks are awaited one by one: Amaranth's ``repeat`` and ``until`` leave a warning behind when
a testbench is dropped in the middle of them.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from amaranth.hdl import Value
from amaranth.sim import Simulator

from tests.support.rtl.verilated_block import add_blocks

#: Gives, each time it is called, the idle cycles before the next transfer.
Idle = Callable[[], int]


def never_idle() -> int:
    """The idle generator of a stream at full rate."""
    return 0


def random_idle(seed: int | str, probability: float = 0.5, longest: int = 4) -> Idle:
    """An idle generator: with ``probability`` from 1 to ``longest`` cycles, otherwise none."""
    rng = random.Random(seed)
    return lambda: rng.randint(1, longest) if rng.random() < probability else 0


async def put(ctx, stream, word: int) -> None:
    """Offer ``word`` until it is taken; returns after the clock edge that took it."""
    ctx.set(Value.cast(stream.payload), word)
    ctx.set(stream.valid, 1)
    taken = False
    while not taken:
        *_, taken = await ctx.tick().sample(stream.ready)
    ctx.set(stream.valid, 0)


async def get(ctx, stream) -> int:
    """Take one word; returns after the clock edge that took it."""
    ctx.set(stream.ready, 1)
    valid = False
    while not valid:
        *_, valid, word = await ctx.tick().sample(stream.valid, Value.cast(stream.payload))
    ctx.set(stream.ready, 0)
    return word


async def _pause(ctx, idle: Idle) -> None:
    for _ in range(idle()):
        await ctx.tick()


def put_all(stream, words: Iterable[int], *, idle: Idle = never_idle):
    """A testbench that puts all ``words``, each after ``idle()`` cycles."""

    async def testbench(ctx):
        for word in words:
            await _pause(ctx, idle)
            await put(ctx, stream, word)

    return testbench


def get_all(stream, count: int, into: list[int], *, idle: Idle = never_idle):
    """A testbench that takes ``count`` words and appends them to ``into``."""

    async def testbench(ctx):
        for _ in range(count):
            await _pause(ctx, idle)
            into.append(await get(ctx, stream))

    return testbench


def get_forever(stream, into: list[int], *, idle: Idle = never_idle):
    """A testbench without an end for ``simulate(background=...)``: takes whatever comes."""

    async def testbench(ctx):
        while True:
            await _pause(ctx, idle)
            into.append(await get(ctx, stream))

    return testbench


def monitor(stream, into: list[tuple[int, int]]):
    """A testbench without an end that only looks: appends (cycle, word) of each transfer."""

    async def testbench(ctx):
        cycle = 0
        word = Value.cast(stream.payload)
        while True:
            *_, valid, ready, value = await ctx.tick().sample(stream.valid, stream.ready, word)
            if valid and ready:
                into.append((cycle, value))
            cycle += 1

    return testbench


async def pulse(ctx, signal) -> None:
    """Set a one-bit input for one clock cycle."""
    ctx.set(signal, 1)
    await ctx.tick()
    ctx.set(signal, 0)


T = TypeVar("T")


@functools.lru_cache(maxsize=4)
def shared(make: Callable[..., T], *arguments: Hashable) -> T:
    """``make(*arguments)``, the same design for all tests that ask for it one after the other.

    Elaborating a design takes longer than most simulations of it; see :func:`simulate`.
    """
    return make(*arguments)


class _Simulation:
    """A simulator of a design for one run after the other, each with its own testbenches."""

    def __init__(self, dut: Any, finite: int, endless: int):
        self._simulator = Simulator(dut)
        self._simulator.add_clock(1e-6)
        add_blocks(self._simulator, dut)
        self._testbenches: list[Callable[[Any], Any]] = []
        for place in range(finite + endless):
            testbench = functools.partial(self._play, place)
            self._simulator.add_testbench(testbench, background=place >= finite)

    async def _play(self, place: int, ctx: Any) -> None:
        await self._testbenches[place](ctx)

    def run(self, testbenches: list[Callable[[Any], Any]]) -> None:
        if self._testbenches:
            self._simulator.reset()
        self._testbenches = testbenches
        self._simulator.run()


#: Of a design with so many testbenches, the latest few.
_simulation = functools.lru_cache(maxsize=4)(_Simulation)


def simulate(dut, *testbenches, background: Iterable = (), cycles: int = 100_000) -> None:
    """Run ``testbenches`` until all have ended, and ``background`` ones beside them.

    A design that was simulated before starts again with all registers and memories as at first.

    Parameters
    ----------
    dut : Component
        A synchronous design with one clock domain, ``sync``.
    testbenches, background : async functions of one argument (the simulator's context)
        Finite ones, and ones that may run for ever.
    cycles : int
        Deadline: a design that does not answer must fail, not hang.

    Raises
    ------
    TimeoutError
        If the testbenches have not ended after ``cycles`` clock cycles.
    """

    async def watchdog(ctx):
        for _ in range(cycles):
            await ctx.tick()
        raise TimeoutError(f"Testbenches must end within {cycles} cycles")

    endless = [*background, watchdog]
    _simulation(dut, len(testbenches), len(endless)).run([*testbenches, *endless])
