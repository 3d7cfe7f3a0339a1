"""Runs a FIFO of a stream beside a queue: what it takes, when it is full, when it is empty."""

from __future__ import annotations

import random
from collections import deque

from amaranth.hdl import Value

from tests.support.rtl.streams import simulate


def check_fifo(dut, width: int, depth: int, seed: int | str) -> None:
    """A FIFO takes ``depth`` payloads and no more, gives them in order, and knows when it is
    empty."""
    rng, held = random.Random(seed), deque()
    source, sink = dut.i, dut.o

    async def testbench(ctx):
        fills = True
        for _ in range(40 * depth):
            # Long enough to be full, and empty, time and again.
            fills ^= rng.random() < 0.4 / depth
            offers, takes = (rng.random() < (0.9 if side else 0.2) for side in (fills, not fills))
            word = rng.getrandbits(width)
            ctx.set(Value.cast(source.payload), word)
            ctx.set(source.valid, offers)
            ctx.set(sink.ready, takes)
            assert ctx.get(dut.o_empty) == (not held)
            assert ctx.get(source.ready) == (len(held) < depth)
            goes = ctx.get(sink.valid)
            assert not goes or ctx.get(Value.cast(sink.payload)) == held[0]
            if offers and len(held) < depth:
                held.append(word)
            if goes and takes:
                held.popleft()
            await ctx.tick()
        ctx.set(source.valid, 0)
        ctx.set(sink.ready, 1)
        for _ in range(depth + 3):
            if ctx.get(sink.valid):
                assert ctx.get(Value.cast(sink.payload)) == held.popleft()
            await ctx.tick()
        assert not held

    simulate(dut, testbench)
