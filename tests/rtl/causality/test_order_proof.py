"""Proof: no race is reported of two accesses that the memory model orders."""

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.order_proof import ENTRY, LOGIC, ORDER, OrderHarness
from tests.support.formal.proof import Proof, proof_tests

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=1, warps_per_sm=2, clock_bits=4, hash_bits=1, known=0, pending=0,
    seen=0, levels=0, records=0, ratio=1, address_bits=16, pc_bits=8,
)  # fmt: skip
PROOF = Proof(
    rule="A race is reported only of two accesses that conflict, are not morally strong, and are "
    "not ordered by PTX's causality order through release and acquire fences, chains of atomics "
    "and block barriers. What is known to a warp, pending or passed on includes all of that "
    "order.",
    sizes="3 warps of one lane in 2 blocks, 2 words, tables that fit, clocks of 4 bits",
    harness=lambda case: OrderHarness(_PARAMS, case),
    depth=1,
    events=(
        "race-with-a-writer", "race-with-a-reader", "ordered-by-a-message", "ordered-by-a-chain",
        "through-another-block",
    ),
    bugs={
        "barrier-orders-too-little": Patch(
            ORDER, "behind_barrier.eq(side.clock <= row.bar)",
            "behind_barrier.eq(side.clock < row.bar)",
        ),
        "device-scopes-do-not-fit": Patch(
            LOGIC, "relation.in_block | (side.device & self.i_access.packet.device)",
            "relation.in_block",
        ),
        "block-release-not-met": Patch(
            LOGIC, "Mux(relation.in_block, side.released, side.released_device)",
            "side.released_device",
        ),
        "message-to-the-block-not-kept": Patch(
            ENTRY, "packet.strong & (packet.released | packet.released_device)",
            "packet.strong & packet.released_device",
        ),
        "atomic-ends-a-message": Patch(
            ENTRY, "had & (is_atomic | rest.any())", "had & rest.any()"
        ),
        "message-handed-on-without-its-release": Patch(
            ENTRY, "(took_on & old.released_device)", "(took_on & 0)"
        ),
    },
    cycles=8,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
