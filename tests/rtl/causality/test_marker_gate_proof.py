"""Proof: a marker leaves the gate when every bank has come to its place."""

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.settling_proof import GATE, GateHarness
from tests.support.formal.proof import Proof, proof_tests

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=2, banks=2, clock_bits=3, hash_bits=2,
    address_bits=16, pc_bits=8,
)  # fmt: skip
PROOF = Proof(
    rule="A waiting marker leaves when each bank has reported its place, and all notices that a "
    "bank reported before have left. Every other notice and every marker leaves once and "
    "unchanged, those of one bank or one SM in order. While the gate is held, no waiting marker "
    "leaves. An epoch may begin when each SM has a marker whose place all banks have reached; it "
    "ends the markers of SMs that hold, and counts for the clocks of the others.",
    sizes="2 banks, 2 SMs",
    harness=lambda case: GateHarness(_PARAMS, case),
    depth=2,
    events=(
        "a-bank-is-late", "both-sms-wait", "a-second-marker", "a-branch-passes", "epoch-with-both",
        "a-branch-passes-while-others-hold",
    ),
    bugs={
        "leaves-before-the-last-bank": Patch(
            GATE, "passed == params.banks", "passed >= params.banks - 1"
        ),
        "epoch-before-the-last-bank": Patch(
            GATE, "waiting[sm] & has_passed", "waiting[sm] & passed.any()"
        ),
        "epoch-before-the-last-sm": Patch(
            GATE, "drained.all() & self.o_idle", "drained.any() & self.o_idle"
        ),
        "does-not-hold": Patch(GATE, "~is_held & ~self.i_hold", "~is_held"),
        "clock-of-before-the-epoch": Patch(GATE, "is_old.eq(1)", "is_old.eq(0)"),
        "place-of-another-sm": Patch(
            GATE, "notices.o.valid & is_mark & is_mine", "notices.o.valid & is_mark"
        ),
        "places-not-forgotten": Patch(
            GATE, "passed.eq(0)", "passed.eq(passed)"
        ),
        "place-is-a-notice": Patch(GATE, "notices.o.valid & ~is_mark", "notices.o.valid"),
        "notice-dropped-at-a-place": Patch(
            GATE, "self.o_notice.ready | is_mark", "self.o_notice.ready | markers.o.valid"
        ),
        "barrier-waits-for-no-bank": Patch(
            GATE, "(outer.payload.kind != TransactionKind.WARP_BARRIER)",
            "(outer.payload.kind < TransactionKind.BLOCK_END)",
        ),
    },
    cycles=10,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
