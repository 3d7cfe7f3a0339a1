"""Round-robin arbiter: each single decision exhaustively, then order, loss, rate and waiting."""

from itertools import product
from random import Random

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from racetrap.rtl.common.arbiter import StreamArbiter, VectorArbiter
from racetrap.rtl.common.stream import StreamRegister
from tests.support.rtl.streams import get_all, monitor, put_all, random_idle, simulate


def winner(last: int, requests: int, count: int) -> int | None:
    """Round robin by definition: the first that asks, counting from the one after ``last``."""
    order = [(last + 1 + k) % count for k in range(count)]
    return next((k for k in order if requests >> k & 1), None)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_every_decision(count):
    """All of: who was served last, is the output full and stalled, who asks."""
    dut = StreamArbiter(8, count)
    checked = 0

    def served(ctx, requests):
        return [k for k in range(count) if ctx.get(dut.i[k].ready) and requests >> k & 1]

    async def testbench(ctx):
        nonlocal checked
        for k in range(count):
            ctx.set(dut.i[k].payload, k)
        for last, ready, requests in product(range(count), (0, 1), range(1 << count)):
            # Serve `last` alone, and leave its payload in the output register.
            ctx.set(dut.o.ready, 1)
            for k in range(count):
                ctx.set(dut.i[k].valid, k == last)
            await ctx.tick()
            for k in range(count):
                ctx.set(dut.i[k].valid, requests >> k & 1)
            ctx.set(dut.o.ready, ready)
            assert (ctx.get(dut.o.valid), ctx.get(dut.o.payload)) == (1, last)
            expected = winner(last, requests, count)
            if not ready:
                assert served(ctx, requests) == []
                await ctx.tick()
                assert (ctx.get(dut.o.valid), ctx.get(dut.o.payload)) == (1, last)
                # The cycle without a decision has not moved the turn.
                ctx.set(dut.o.ready, 1)
            assert served(ctx, requests) == ([] if expected is None else [expected])
            await ctx.tick()
            assert ctx.get(dut.o.valid) == (expected is not None)
            assert ctx.get(dut.o.payload) == (last if expected is None else expected)
            checked += 1

    simulate(dut, testbench)
    assert checked == count * 2 << count


@pytest.mark.parametrize("count", [1, 3, 4, 7])
@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_lost_or_reordered(count, seed):
    dut = StreamArbiter(16, count)
    sent = [[k << 8 | number for number in range(40)] for k in range(count)]
    got = []
    simulate(
        dut,
        *(
            put_all(port, words, idle=random_idle(f"{seed} {k}"))
            for k, (port, words) in enumerate(zip(dut.i, sent, strict=True))
        ),
        get_all(dut.o, 40 * count, got, idle=random_idle(f"{seed} get", 0.2)),
    )
    assert [[word for word in got if word >> 8 == k] for k in range(count)] == sent


@pytest.mark.parametrize("count", [2, 5])
def test_full_rate_and_bounded_wait_under_full_load(count):
    dut = StreamArbiter(8, count)
    left = []
    simulate(
        dut,
        *(put_all(port, [k] * 20) for k, port in enumerate(dut.i)),
        get_all(dut.o, 20 * count, []),
        background=[monitor(dut.o, left)],
    )
    first = left[0][0]
    assert left == [(first + number, number % count) for number in range(20 * count)]


def test_one_input_needs_no_logic_but_the_register():
    one, register = (rtlil.convert(dut) for dut in (StreamArbiter(8, 1), StreamRegister(8)))
    # Besides the instance itself.
    assert one.count(" cell ") == register.count(" cell ") + 1


def test_count_must_be_positive():
    message = r"^Stream arbiter input count must be at least 1, not 0$"
    with pytest.raises(ValueError, match=message):
        StreamArbiter(8, 0)


class _Both(wiring.Component):
    """Both arbiters with the same inputs; ``o_same`` is high while they agree."""

    def __init__(self, count):
        self.stream, self._vector = StreamArbiter(8, count), VectorArbiter(8, count)
        super().__init__({"o_same": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.stream, m.submodules.vector = stream, vector = self.stream, self._vector
        m.d.comb += [
            vector.i_payload.eq(Cat(port.payload for port in stream.i)),
            vector.i_valid.eq(Cat(port.valid for port in stream.i)),
            vector.o.ready.eq(stream.o.ready),
            self.o_same.eq(
                Cat(
                    vector.o_ready == Cat(port.ready for port in stream.i),
                    vector.o.valid == stream.o.valid,
                    vector.o.payload == stream.o.payload,
                ).all()
            ),
        ]
        return m


@pytest.mark.parametrize("count", [1, 3, 4])
def test_payloads_side_by_side_are_served_alike(count):
    dut, rng = _Both(count), Random(count)

    async def testbench(ctx):
        for _ in range(300):
            for port in dut.stream.i:
                ctx.set(port.valid, rng.random() < 0.6)
                ctx.set(port.payload, rng.getrandbits(8))
            ctx.set(dut.stream.o.ready, rng.random() < 0.7)
            assert ctx.get(dut.o_same)
            await ctx.tick()

    simulate(dut, testbench)
