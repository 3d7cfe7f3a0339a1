"""Proof: a CAS leaves once, with its outcome, and before what its warp or block issues behind."""

from unittest import mock

from amaranth.hdl import Assume, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.events import AtomicOp
from racetrap.golden_model.gpu.issue import IssueKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "gpu/outcome_hold.py"
_PLACES = 2
_PARAMS = ScordParams(
    sm_count=1, blocks_per_sm=2, warps_per_sm=3, address_bits=16, pc_bits=8, lanes=1,
    outstanding_cas=_PLACES,
)  # fmt: skip


class HoldHarness(Harness):
    """An outcome hold with free streams; one CAS, any, is watched from when it is taken.

    An instruction that is offered stays so until it is taken.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._module = modules_with([_FILE], case.bug)[_FILE]
        self._hold = self._module.OutcomeHold(_PARAMS)
        self._instruction = struct_layout(_PARAMS.instruction_layout)
        super().__init__(case, {
            "i_valid": In(1), "i_instruction": In(self._instruction), "i_answer": In(1),
            "i_outcome": In(struct_layout(_PARAMS.outcome_layout)), "i_ready": In(1),
            "i_watch": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        part, memories = self._hold, []

        def open_memory(**arguments):
            memories.append(OpenMemory(**arguments))
            return memories[-1]

        with mock.patch.object(self._module, "Memory", open_memory):
            inner = OpenComponent(part)
        m.submodules.hold = inner.fragment
        given = self.i_instruction
        m.d.comb += [
            part.i_instruction.valid.eq(self.i_valid), part.i_instruction.payload.eq(given),
            part.i_outcome.valid.eq(self.i_answer), part.i_outcome.payload.eq(self.i_outcome),
            part.o.ready.eq(self.i_ready),
        ]  # fmt: skip
        before, stuck, kept = Signal(self._instruction), Signal(), Signal.like(part.o.payload)
        waits = Signal()
        m.d.sync += [
            before.eq(given), stuck.eq(self.i_valid & ~part.i_instruction.ready),
            waits.eq(part.o.valid & ~part.o.ready), kept.eq(part.o.payload),
        ]  # fmt: skip
        m.d.comb += Assume(~stuck | (self.i_valid & (Value.cast(before) == Value.cast(given))))
        rules, helps = self._watch(m, part, inner, memories[0])
        is_steady = ~waits | (part.o.valid & (Value.cast(kept) == Value.cast(part.o.payload)))
        events = {
            "watched-leaves": self._leaves,
            "its-warp-waits": self._pending & stuck & (given.warp == self._watched.warp),
            "end-of-its-block-waits": self._pending & stuck & (given.kind == IssueKind.BLOCK_END),
            "another-warp-passes": self._pending & part.o.valid & (kept.warp != self._watched.warp),
            "all-places-taken": inner["taken"].all() & self._pending,
            "outcome-beside-another": self._answered & inner["answers"] & part.i_outcome.ready,
        }
        self.state(m, [*rules, is_steady], events, helps)
        return m

    def _watch(self, m, part, inner, memory):
        """Rules of the watched CAS, and of all that is none; where the CAS is."""
        given, taken = self.i_instruction, self.i_valid & part.i_instruction.ready
        watched, success = Signal(self._instruction, name="watched"), Signal(_PARAMS.lanes)
        pending, answered = Signal(name="pending"), Signal(name="was_answered")
        out = part.o.payload
        is_cas = (given.kind == IssueKind.ATOMIC) & (given.op == AtomicOp.CAS)
        is_cas_out = (out.kind == IssueKind.ATOMIC) & (out.op == AtomicOp.CAS)
        of_block = (given.kind == IssueKind.BLOCK_START) | (given.kind == IssueKind.BLOCK_END)
        is_own = part.o.valid & is_cas_out & (out.warp == watched.warp) & (pending | answered)
        answers = self.i_answer & part.i_outcome.ready & (self.i_outcome.warp == watched.warp)
        leaves = is_own & part.o.ready
        with m.If(leaves):
            m.d.sync += answered.eq(0)
        with m.If(pending & answers):
            m.d.sync += [pending.eq(0), answered.eq(1), success.eq(self.i_outcome.success)]
        with m.If(taken & is_cas & self.i_watch & ~pending & ~answered):
            m.d.sync += [watched.eq(given), pending.eq(1)]
        self._pending, self._answered, self._leaves = pending, answered, leaves
        self._watched = watched
        is_held = pending | answered
        later = Mux(of_block, given.slot == watched.slot, given.warp == watched.warp)
        none = Const(0, _PARAMS.lanes)
        passes = part.o.valid & part.o.ready & ~is_cas_out
        rules = [
            ~(is_held & taken & later),
            ~is_own | (answered & (Value.cast(out) == Cat(Value.cast(watched), success))),
            ~(answered & answers),
            passes == (taken & ~is_cas),
            ~passes | (Value.cast(out) == Cat(Value.cast(given), none)),
            ~(part.o_idle & is_held),
            ~answered | (part.o_answered & (part.o_warp == watched.warp)),
        ]
        return rules, self._places(inner, memory, is_held, answered, success)

    def _places(self, inner, memory, is_held, answered, success):
        """Each CAS is in a place of its own, and the watched one in one of them."""
        taken, answers, place = (inner[name] for name in ("taken", "answers", "place"))
        owners = [inner[f"owner_{number}"] for number in range(_PLACES)]
        rows = [
            self._instruction(Value.cast(inner[f"memory.row_{number}"]))
            for number in range(_PLACES)
        ]
        read = self._instruction(Value.cast(memory.read_ports[0].data))
        fits = [
            held
            & (Value.cast(row) == Value.cast(self._watched))
            & ((place == number) & answers == answered)
            for number, (held, row) in enumerate(zip(taken, rows, strict=True))
        ]
        own = [
            ~held
            | (
                (Value.cast(owner) == Cat(row.warp, row.slot))
                & (row.kind == IssueKind.ATOMIC) & (row.op == AtomicOp.CAS)
            )
            for held, owner, row in zip(taken, owners, rows, strict=True)
        ]  # fmt: skip
        chosen = Mux(place[0], Value.cast(rows[1]), Value.cast(rows[0]))
        return [
            *own,
            ~taken.all() | (rows[0].warp != rows[1].warp),
            ~answers | (taken.bit_select(place, 1) & (Value.cast(read) == chosen)),
            ~is_held | Cat(fits).any(),
            ~(self._pending & answered),
            ~answered | (inner["success"] == success),
        ]


PROOF = Proof(
    rule="A CAS leaves once, unchanged and with its outcome. Meanwhile nothing of its warp is "
    "taken, nor the start or end of its block. All else passes at once, unchanged. What is "
    "offered stays until it is taken.",
    sizes="3 warps, 2 blocks, 2 places, one lane",
    harness=HoldHarness,
    depth=3,
    events=(
        "watched-leaves", "its-warp-waits", "end-of-its-block-waits", "another-warp-passes",
        "all-places-taken", "outcome-beside-another",
    ),
    bugs={
        "warp-overtakes-its-cas": Patch(_FILE, "owner.warp == instruction.warp)", "0)"),
        "block-ends-before-its-cas": Patch(_FILE, "owner.slot == instruction.slot,", "0,"),
        "place-taken-twice": Patch(_FILE, "free.eq(lowest_one_hot(~taken))", "free.eq(1)"),
        "outcome-of-another-place": Patch(
            _FILE, "read.addr.eq(one_hot_number(answered))", "read.addr.eq(0)"
        ),
        "offer-changes-for-an-outcome": Patch(
            _FILE, "leads.eq(answers & ~waits)", "leads.eq(answers)"
        ),
        "answered-twice": Patch(_FILE, "& ~(answers & (place == number))", ""),
    },
    cycles=8,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
