"""Proof: RVFI of a core's last stage is the golden model's, whatever leaves it."""

from tests.support.formal.proof import Proof, proof_tests
from tests.support.noncoherent.taps.golden_proof import LastStageHarness
from tests.support.noncoherent.taps.planted_bugs import LAST_STAGE_BUGS

PROOF = Proof(
    rule="What RVFI shows of an instruction that leaves a pipeline is the golden model's, in the "
    "same cycle: every path of the golden code is run on symbols.",
    sizes="any instruction and addresses of 32 bits",
    harness=LastStageHarness,
    depth=1,
    events=("load-of-a-byte", "store-of-a-halfword", "before-its-base"),
    bugs=LAST_STAGE_BUGS,
    cycles=1,
)

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
