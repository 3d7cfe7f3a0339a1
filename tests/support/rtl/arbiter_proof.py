"""Harness for a proof on the stream arbiter: nothing lost, doubled, mixed up or left waiting."""

from __future__ import annotations

from amaranth.hdl import Assume, Cat, Module, Mux, Signal
from amaranth.lib.wiring import In

from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_STREAM, _ARBITER = "common/stream.py", "common/arbiter.py"
_WIDTH = 3


class ArbiterHarness(Harness):
    """An arbiter whose inputs keep what they offer until it is taken.

    Parameters
    ----------
    count : int
        Inputs.
    case : Case
        What is asked.
    """

    def __init__(self, count: int, case: Case):
        self._count = count
        self._arbiter = modules_with([_STREAM, _ARBITER], case.bug)[_ARBITER].StreamArbiter(
            _WIDTH, count
        )
        super().__init__(case, {
            "i_valid": In(count), "i_payload": In(_WIDTH).array(count), "i_ready": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        arbiter, count = self._arbiter, self._count
        inner = OpenComponent(arbiter)
        m.submodules.arbiter = inner.fragment
        taken, waits = Signal(count), Signal(count)
        held, last = Signal(), Signal(_WIDTH)
        m.d.comb += arbiter.o.ready.eq(self.i_ready)
        for k, port in enumerate(arbiter.i):
            before = Signal(_WIDTH, name=f"payload_{k}")
            m.d.comb += [
                port.valid.eq(self.i_valid[k]),
                port.payload.eq(self.i_payload[k]),
                taken[k].eq(port.valid & port.ready),
                waits[k].eq(port.valid & ~port.ready),
            ]
            waited = Signal(name=f"waited_{k}")
            m.d.sync += [waited.eq(waits[k]), before.eq(self.i_payload[k])]
            m.d.comb += Assume(~waited | (self.i_valid[k] & (self.i_payload[k] == before)))
            with m.If(taken[k]):
                m.d.sync += last.eq(self.i_payload[k])
        given = arbiter.o.valid & self.i_ready
        m.d.sync += held.eq(held + taken.any() - given)
        # Payloads of others that each input has seen taken while it waits.
        served = [Signal(range(count + 1), name=f"served_{k}") for k in range(count)]
        for k, number in enumerate(served):
            m.d.sync += number.eq(Mux(waits[k], number + taken.any(), 0))
        rules = [
            (taken & (taken - 1)) == 0,
            arbiter.o.valid == held,
            ~held | (arbiter.o.payload == last),
            # One payload a cycle, of one who asks.
            ~(self.i_valid.any() & (~held | self.i_ready)) | taken.any(),
            *(number < count for number in served),
        ]
        after = inner["after"]
        # The input served last has as many behind it as `after` has bits.
        latest = (count - 1) - sum(after)
        behind = [(k - latest - 1 + count) % count for k in range(count)]
        helps = [
            ((~after + 1) & after & ((1 << count) - 1)) + after == Mux(after.any(), 1 << count, 0),
            *(number + place < count for number, place in zip(served, behind, strict=True)),
        ]
        events = {
            "all-ask": self.i_valid.all() & taken[0],
            "longest-wait": Cat(number == count - 1 for number in served).any(),
        }
        self.state(m, rules, events, helps)
        return m
