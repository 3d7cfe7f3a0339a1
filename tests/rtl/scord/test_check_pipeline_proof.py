"""Proof: the check pipeline decides as if each packet were checked alone, one after the other."""

from racetrap.golden_model.scord.params import ScordParams
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.pipeline_proof import PipelineHarness
from tests.support.scord.planted_bugs import PLANTED_BUGS

_PARAMS = ScordParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=2, ratio=2, outstanding=4, address_bits=16, pc_bits=8,
    fence_id_bits=2, barrier_id_bits=2, slot_generation_bits=1,
)  # fmt: skip
PROOF = Proof(
    rule="Each step is the decision on the entry given with its packet, or left by the slot that "
    "it is forwarded from (never an older one), with the fence counters after all earlier "
    "packets.",
    sizes="4 slots, 2 SMs of 2 warps and 2 blocks, counters of 2 bits, generations of 1",
    harness=lambda case: PipelineHarness(_PARAMS, case),
    depth=2,
    events=("from-1-ahead", "from-2-ahead", "from-3-ahead", "race", "fence-just-ahead"),
    bugs={
        name: PLANTED_BUGS[name].patch
        for name in (
            "pipeline-misses-older-result", "pipeline-owner-before-last",
            "pipeline-late-owner-not-looked-at", "decision-relation-before-last",
            "decision-fences-of-owner-before", "fence-file-not-forwarded",
        )
    },
    cycles=9,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
