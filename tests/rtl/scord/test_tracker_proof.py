"""Proof: a fence delays its own warp, and a barrier of its block; nothing else waits for it.
A packet carries the generation that its block had when its transaction was taken.
"""

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.planted_bugs import PLANTED_BUGS
from tests.support.scord.tracker_proof import TrackerHarness

_HOLD, _TRACKER = "scord/fence_hold.py", "scord/tracker.py"
_SPLITTER = "scord/granule_splitter.py"
_PARAMS = ScordParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=2, lock_table_depth=1, address_bits=16, pc_bits=8,
    slot_generation_bits=2,
)  # fmt: skip
PROOF = Proof(
    rule="From the fence of a warp until the warp is notified, no transaction of that warp is "
    "accepted, and no barrier of its block. Each fence becomes one packet of its scope, and none "
    "is in flight when idle. The generation of any other packet is the number of blocks that its "
    "slot has had, wrapped.",
    sizes="2 warps, 2 block slots, lock tables of one entry, generations of 2 bits",
    harness=lambda case: TrackerHarness(_PARAMS, case),
    depth=2,
    events=(
        "another-warp-goes-on",
        "all-warps-fence",
        "barrier-waits",
        "barrier-of-another-block",
        "generation-wraps",
    ),
    bugs={
        "goes-on-at-once": Patch(_HOLD, "(fencing & ~self.i_fenced) | started", "started"),
        "told-by-another": Patch(
            _HOLD, "fencing & ~self.i_fenced", "fencing & ~self.i_fenced.any().replicate(warps)"
        ),
        "barrier-of-the-warp-alone": Patch(
            _TRACKER, "waits.eq(hold.o_block_waits)", "waits.eq(hold.o_warp_waits)"
        ),
        "slot-not-kept": Patch(_HOLD, "slot.eq(self.i_slot)", "slot.eq(0)"),
        "counts-while-disabled": Patch(
            _TRACKER,
            "splitter.i.valid & splitter.i.ready & is_fence",
            "transaction.valid & transaction.ready & is_fence",
        ),
        "fence-comes-twice": Patch(_SPLITTER, "remaining.eq(1)", "remaining.eq(3)"),
        "idle-too-early": Patch(
            _TRACKER, "~(holds_packet | self.o_fencing.any())", "~holds_packet"
        ),
        **{
            name: PLANTED_BUGS[name].patch
            for name in (
                "generation-not-counted",
                "generation-counts-warps",
                "generation-does-not-wrap",
                "generation-survives-launch",
            )
        },
    },
    cycles=12,
)

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
