"""Proof: a descriptor tap's operations are the golden model's, whatever software accesses."""

from tests.support.formal.proof import Proof, proof_tests
from tests.support.noncoherent.taps.golden_proof import DescriptorHarness
from tests.support.noncoherent.taps.planted_bugs import DESCRIPTOR_TAP_BUGS

PROOF = Proof(
    rule="After any accesses to an engine's registers, the DMA and the sync of the next one, each "
    "in its lane one cycle later, are those of the golden model, with the registers as they are "
    "after that access, and there are no others: every path of the golden code is run on symbols.",
    sizes="any accesses of 32 bits; an engine that reads and writes, with rows",
    harness=DescriptorHarness,
    depth=2,
    events=("read", "read-and-write", "of-several-rows", "sync"),
    bugs=DESCRIPTOR_TAP_BUGS,
    cycles=5,
)

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
