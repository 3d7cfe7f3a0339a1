"""Proof: an RVFI tap's operations are the golden model's, whatever a core retires."""

from tests.support.formal.proof import Proof, proof_tests
from tests.support.noncoherent.taps.golden_proof import RvfiHarness
from tests.support.noncoherent.taps.planted_bugs import RVFI_TAP_BUGS

PROOF = Proof(
    rule="The operations of an instruction, each in its lane one cycle later, are those of the "
    "golden model, and there are no others: every path of the golden code is run on symbols.",
    sizes="any instruction, addresses, masks and tags of 32 bits; 3 regions, one an alias, 2 "
    "windows, 4 words of maintenance",
    harness=RvfiHarness,
    depth=2,
    events=("read-and-write", "read-in-a-window", "maintenance", "maintenance-of-all"),
    bugs=RVFI_TAP_BUGS,
    cycles=2,
)

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
