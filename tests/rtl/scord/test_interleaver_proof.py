"""Proof: each bank takes each fence exactly once, and before its warp goes on."""

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.interleaver_proof import InterleaverHarness

_COLLECTOR, _INTERLEAVER = "scord/fence_collector.py", "scord/interleaver.py"
_PARAMS = ScordParams(
    sm_count=3, blocks_per_sm=1, warps_per_sm=2, banks=2, fence_lanes=2, address_bits=16, pc_bits=8
)
PROOF = Proof(
    rule="Each port's banks take each fence exactly once, with its scope. A warp is notified "
    "once for each fence, when every port has taken it or takes it next; the interleaver is not "
    "idle before.",
    sizes="3 SMs of 2 warps, 2 ports, 2 lanes",
    harness=lambda case: InterleaverHarness(_PARAMS, case),
    depth=2,
    events=("bundle-of-all-lanes", "a-port-is-late", "all-warps-fence", "an-access-meanwhile"),
    bugs={
        "told-by-one-port": Patch(_COLLECTOR, "& has_taken.all()", "& has_taken.any()"),
        "offered-again": Patch(_COLLECTOR, "present.any() & ~taken[number]", "present.any()"),
        "changes-while-offered": Patch(_COLLECTOR, "~present.any() | leaves)", "1)"),
        "next-one-not-offered": Patch(_COLLECTOR, "(present.any() & ~leaves)", "present.any()"),
        "sent-by-both-ways": Patch(_INTERLEAVER, "(self.i.valid & ~is_fence)", "self.i.valid"),
        "scope-of-the-first-lane": Patch(
            _COLLECTOR,
            "place.eq(lane.o.payload)",
            "[place.eq(lane.o.payload), place.scope.eq(lanes[0].o.payload.scope)]",
        ),
        "warp-of-another-sm": Patch(
            _COLLECTOR,
            "lane.valid & ((lane.payload.block >> params.slot_bits) == sm)",
            "lane.valid",
        ),
    },
    cycles=10,
)

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
