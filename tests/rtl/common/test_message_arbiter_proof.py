"""Proof: a message arbiter passes messages whole, each payload once, and lets none starve."""

from __future__ import annotations

from amaranth.hdl import Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_STREAM, _FILE = "common/stream.py", "common/message_arbiter.py"
_COUNT, _FLIT = 3, data.StructLayout({"data": 3, "last": 1})


class MessageHarness(Harness):
    """An arbiter whose inputs keep what they offer, with messages of any length.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        module = modules_with([_STREAM, _FILE], case.bug)[_FILE]
        self._arbiter = module.MessageArbiter(_FLIT, _COUNT)
        super().__init__(case, {
            "i_valid": In(_COUNT), "i_flit": In(4).array(_COUNT), "i_ready": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        arbiter = self._arbiter
        inner = OpenComponent(arbiter)
        m.submodules.arbiter = inner.fragment
        m.d.comb += arbiter.o.ready.eq(self.i_ready)
        taken, offered = Signal(_COUNT), Signal(_COUNT)
        held, last, source = Signal(), Signal(4), Signal(2)
        # Input whose message has begun, and messages of others ended while an input waits.
        inside, owner = Signal(), Signal(2)
        waited = [Signal(range(_COUNT + 1), name=f"waited_{k}") for k in range(_COUNT)]
        ends = Signal()
        for k, port in enumerate(arbiter.i):
            before, waits = Signal(4, name=f"before_{k}"), Signal(name=f"waits_{k}")
            m.d.comb += [
                port.valid.eq(self.i_valid[k]), Value.cast(port.payload).eq(self.i_flit[k]),
                offered[k].eq(port.valid), taken[k].eq(port.valid & port.ready),
                Assume(~waits | (port.valid & (self.i_flit[k] == before))),
            ]  # fmt: skip
            m.d.sync += [waits.eq(port.valid & ~port.ready), before.eq(self.i_flit[k])]
            with m.If(taken[k]):
                m.d.sync += [last.eq(self.i_flit[k]), source.eq(k), owner.eq(k)]
                m.d.sync += inside.eq(~port.payload.last)
                m.d.comb += ends.eq(port.payload.last)
            own = inside & (owner == k)
            m.d.sync += waited[k].eq(
                Mux(port.valid & ~taken[k] & ~own, waited[k] + (ends & ~taken[k]), 0)
            )
        given = arbiter.o.valid & self.i_ready
        m.d.sync += held.eq(held + taken.any() - given)
        rules = [
            (taken & (taken - 1)) == 0,
            arbiter.o.valid == held,
            ~held | (Value.cast(arbiter.o.p.flit) == last),
            ~held | (arbiter.o.p.source == source),
            # A message that has begun is not broken into.
            *(~(inside & taken[k]) | (owner == k) for k in range(_COUNT)),
            *(number < _COUNT for number in waited),
        ]
        grant, after = inner["grant"], inner["after"]
        latest = (_COUNT - 1) - sum(after)
        behind = [(k - latest - 1 + _COUNT) % _COUNT for k in range(_COUNT)]
        chosen = [grant[k] for k in range(_COUNT)]
        helps = [
            (grant & (grant - 1)) == 0, ~inside | (grant == (1 << owner)[:_COUNT]),
            ~inside | (owner < _COUNT),
            ((~after + 1) & after & ((1 << _COUNT) - 1)) + after
            == Mux(after.any(), 1 << _COUNT, 0),
            # Others are served before, in turn from the last or from the one that is granted.
            *(
                grant.any() | (number + place < _COUNT)
                for number, place in zip(waited, behind, strict=True)
            ),
            *(
                ~chosen[g] | (waited[k] + 1 + (k - g - 1) % _COUNT < _COUNT)
                for g in range(_COUNT)
                for k in range(_COUNT)
                if k != g
            ),
            # An input that is not yet granted offers, or has been.
            *(~chosen[k] | inside | self.i_valid[k] for k in range(_COUNT)),
        ]  # fmt: skip
        events = {
            "three-wait": self.i_valid.all() & taken[2] & arbiter.i[2].p.last,
            "gap-in-a-message": inside & ~(offered & grant).any() & (offered & ~grant).any(),
            "longest-wait": Cat(number == _COUNT - 1 for number in waited).any(),
        }
        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="Each payload that an input gives comes out once, unchanged and in order, with the number "
    "of its input. The payloads of a message follow each other, whatever others offer, and an "
    "input waits for at most one message of each other input.",
    sizes="3 inputs",
    harness=MessageHarness,
    depth=4,
    events=("three-wait", "gap-in-a-message", "longest-wait"),
    bugs={
        "breaks-into-a-message": Patch(
            _FILE, "register.i.valid & register.i.ready & register.i.p.flit.last",
            "register.i.ready",
        ),
        "lowest-first": Patch(
            _FILE, "Mux((offered & after).any(), offered & after, offered)", "offered"
        ),
        "two-are-granted": Patch(_FILE, "grant.eq(candidates & -candidates)",
            "grant.eq(candidates)"),
        "taken-while-the-register-is-full": Patch(
            _FILE, "port.ready.eq(chosen & register.i.ready)", "port.ready.eq(chosen)"
        ),
    },
    cycles=14,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
