"""Proof: fences over any network between tiles, each once at each slice, and none is stuck."""

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.request_proof import RECEIVER, SENDER, FenceHarness

_PARAMS = ScordParams(
    sm_count=2, blocks_per_sm=1, warps_per_sm=2, banks=2, address_bits=16, pc_bits=8
)
PROOF = Proof(
    rule="Each slice gets one copy of each fence, behind all that its SM has sent before; its "
    "banks take it once, with its scope, and it answers once. A fence ends exactly when the banks "
    "of all slices have it and all answers are there. Until then each copy is in one place, and "
    "no place keeps it for ever.",
    sizes="2 SMs of 2 warps, 2 slices, any delays and any order between tiles",
    harness=lambda case: FenceHarness(_PARAMS, case),
    depth=2,
    events=(
        "all-warps-fence", "a-slice-is-late", "a-fence-ends", "a-slice-has-a-mark",
        "fences-wait-for-each-other",
    ),
    bugs={
        "ends-with-the-first-answer": Patch(SENDER, "takes & (count == last)", "takes"),
        "no-copy-for-the-last": Patch(
            SENDER, "destination == params.metadata_ports - 1", "destination == 0"
        ),
        "all-copies-to-one-slice": Patch(
            SENDER, "copies.payload.destination.eq(destination)",
            "copies.payload.destination.eq(0)",
        ),
        "answer-before-the-banks-have-it": Patch(
            RECEIVER, "response.i.valid.eq(self.o_packet.ready)", "response.i.valid.eq(1)"
        ),
        "taken-without-an-answer": Patch(
            RECEIVER, "may_go.eq(~is_fence | response.i.ready)", "may_go.eq(1)"
        ),
        "answer-for-another-warp": Patch(
            RECEIVER, "response.i.payload.warp.eq(packet.warp)", "response.i.payload.warp.eq(0)"
        ),
        "accesses-first": Patch(
            SENDER, "copies.valid.eq(fences.o.valid | is_marking)",
            "copies.valid.eq((fences.o.valid & ~self.i_packet.valid) | is_marking)",
        ),
    },
    cycles=12,
    seconds=60,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
