"""Proof: each packet has a place for its notice before it is checked, and gives it back."""

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.notice_proof import LANE, PIPELINE, LaneHarness
from tests.support.formal.proof import Proof, proof_tests

_PARAMS = CausalityParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=2, clock_bits=3, hash_bits=1, known=1, records=1,
    ratio=2, outstanding=4, address_bits=16, pc_bits=8, report_fifo_depth=2, shared_bytes=0,
)  # fmt: skip
PROOF = Proof(
    rule="Each packet leaves the pipeline after the pipeline's latency. A notice that it leaves "
    "finds a place in the FIFO, which never overflows. A lane is idle if and only if it holds "
    "neither packet nor notice.",
    sizes="2 warps, the smallest FIFO",
    harness=lambda case: LaneHarness(_PARAMS, case),
    depth=8,
    events=("all-places-taken", "holds", "no-notice", "goes-on-after-a-hold"),
    bugs={
        "hold-a-packet-late": Patch(LANE, "free < 2", "free < 1"),
        "place-given-back-with-a-notice": Patch(
            LANE, "pipeline.o_leaves & ~pipeline.o_notice.valid", "pipeline.o_leaves"
        ),
        "place-given-back-twice": Patch(
            LANE, "(notices.o.valid & notices.o.ready)", "notices.o.valid"
        ),
        "idle-with-a-packet-on-the-way": Patch(LANE, "free == places", "notices.o_empty"),
        "notice-after-a-packet": Patch(
            PIPELINE, "self.o_leaves.eq(valid)", "self.o_leaves.eq(self.o_leaves | valid)"
        ),
    },
    cycles=16,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
