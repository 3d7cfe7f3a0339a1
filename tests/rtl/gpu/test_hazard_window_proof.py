"""Proof: a packet takes the entry of the youngest slot that holds it, or reads it once."""

from racetrap.golden_model.scord.params import ScordParams
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.planted_bugs import PLANTED_BUGS
from tests.support.scord.window_proof import WindowHarness

_PARAMS = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=1, ratio=1, outstanding=4, local_bytes=64
)
PROOF = Proof(
    rule="A packet takes its entry from the youngest slot that holds it, or reads it once if "
    "none does. It leaves in order, as soon as its entry has arrived.",
    sizes="4 slots, 8 entries",
    harness=lambda case: WindowHarness(_PARAMS, case),
    depth=4,
    events=(
        "full", "forward", "youngest-of-two", "forward-from-a-slot-that-retires",
        "answers-out-of-order",
    ),
    bugs={
        name: PLANTED_BUGS[name].patch
        for name in (
            "window-never-forwards", "window-forwards-from-older-slot", "window-waits-for-no-answer"
        )
    },
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
