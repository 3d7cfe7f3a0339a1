"""Proof: an item leaves records that claim what they must, and sends a row that has changed."""

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.collector_parts import (
    COLLECTOR,
    LEARNING,
    MARKERS,
    PHASES,
)
from tests.support.causality.collector_proof import CollectorHarness
from tests.support.formal.proof import Proof, proof_tests

_PARAMS = CausalityParams(
    sm_count=1, blocks_per_sm=2, warps_per_sm=2, clock_bits=3, hash_bits=2, known=1, pending=1,
    seen=0, records=0, undecided=1, ratio=1, address_bits=16, pc_bits=8,
)  # fmt: skip
PROOF = Proof(
    rule="When an item is done, the tables of each record that it wrote claim what they claimed "
    "before, and what the rules of the order proof add at a message, an acquire, a barrier and "
    "the start of a block. An access that comes back to its own warp need not be claimed: it "
    "precedes the clocks of that warp's row and releases. Clocks never decrease, and a warp's "
    "clock is not below any clock in its row. A changed row goes to all banks, and the warp "
    "continues with its record's clock.",
    sizes="2 warps in 2 blocks, tables of 1 exact entry, 2 hash bits, clocks of 3 bits, any "
    "records",
    harness=lambda case: CollectorHarness(_PARAMS, case),
    depth=1,
    events=(
        "learns-by-a-message", "takes-in-at-a-fence", "own-access-returns",
    ),
    bugs={
        "one-step-of-each-phase": Patch(
            LEARNING, "steps_left.eq(steps_left & steps_behind)", "steps_left.eq(0)"
        ),
        "far-messages-dropped-at-an-acquire": Patch(
            MARKERS, 'taken("far"), "know", sources=("far",)',
            'taken("far"), "know", sources=("here",)',
        ),
        "own-access-not-behind-its-lanes": Patch(
            PHASES, "Mux(has_own, own + 1, 0)", "Mux(has_own, own, 0)"
        ),
        "row-of-an-acquire-kept-back": Patch(
            COLLECTOR, "outlet.i_has_row.eq(acquires | met | starts)",
            "outlet.i_has_row.eq(met | starts)",
        ),
    },
    cycles=24,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
