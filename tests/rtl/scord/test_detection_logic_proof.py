"""Proof: the detection logic is the golden tables, for every access and every entry."""

from racetrap.golden_model.scord.params import ScordParams
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.decision_proof import DecisionHarness
from tests.support.scord.planted_bugs import PLANTED_BUGS

_PARAMS = ScordParams(pc_bits=8, slot_generation_bits=6)
PROOF = Proof(
    rule="Row, preliminary check, race, new entry and change of owner are those of the golden "
    "tables, for every access, entry and fence counter.",
    sizes="the paper's entry (15 SMs, 32 warps, ratio 16), generations in its 6 spare bits",
    harness=lambda case: DecisionHarness(_PARAMS, case),
    depth=1,
    events=("LOAD_FENCED_WRITE", "LOAD_LOCKED", "STORE_BOTH_ATOMIC", "STORE_LOCKED"),
    bugs={
        name: PLANTED_BUGS[name].patch
        for name in (
            "logic-block-fence-hides-read", "logic-shared-readers-forgotten",
            "logic-lock-sets-not-met", "relation-barriers-not-compared",
            "relation-half-empty-filter-holds", "relation-generations-not-compared",
            "logic-entry-keeps-generation",
        )
    },
    cycles=1,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
