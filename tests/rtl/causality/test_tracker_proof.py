"""Proof: an SM waits behind a marker until its last resume, and clocks of its warps only grow."""

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.tracker_proof import STATES, TRACKER, TrackerHarness
from tests.support.formal.proof import Proof, proof_tests

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=2, clock_bits=3, hash_bits=1, known=1, ratio=2,
    address_bits=16, pc_bits=8,
)  # fmt: skip
PROOF = Proof(
    rule="An operation that needs an answer, and a hold of the SM, becomes one marker and one "
    "MARK packet. From then until the last resume, or an epoch, the SM sends nothing, and is not "
    "idle. A warp's packets never have a smaller clock than earlier packets and resumes of the "
    "epoch; branches and warp barriers have a larger one. A block's first clock is larger than "
    "those of its warp slots and of the previous block in its slot. When a clock has reached the "
    "last one, only accesses leave; while the SM is held, nothing does.",
    sizes="2 warps, 2 block slots, clocks of 3 bits",
    harness=lambda case: TrackerHarness(_PARAMS, case),
    depth=2,
    events=(
        "resumed", "two-resumes", "waits-for-an-epoch", "epoch-before-an-answer",
        "behind-an-epoch", "starts-behind-another-block",
    ),
    bugs={
        "goes-on-at-the-first-resume": Patch(
            TRACKER, "self._resumes & self.i_resume.payload.is_last", "self._resumes"
        ),
        "packet-without-its-marker": Patch(TRACKER, "(marker.i.ready | ~is_told)", "1"),
        "idle-while-it-waits": Patch(
            TRACKER, "~packet.o.valid & ~marker.o.valid & ~waits & ~holds",
            "~packet.o.valid & ~marker.o.valid",
        ),
        "goes-on-though-told-to-hold": Patch(
            TRACKER, "is_stopped | (is_other & (is_full | warps.o_full))",
        "is_other & (is_full | warps.o_full)"
        ),
        "sends-while-it-holds": Patch(
            TRACKER, "packet.i.ready & ~waits & ~is_held & ~warps.o_busy",
            "packet.i.ready & ~waits & ~warps.o_busy",
        ),
        "branch-keeps-its-clock": Patch(
            TRACKER, "after.clock.eq(state.clock + advances)", "after.clock.eq(state.clock)"
        ),
        "full-clock-not-waited-for": Patch(
            TRACKER, "(is_full | warps.o_full)", "is_full"
        ),
        "block-before-not-looked-at": Patch(
            STATES, "self.i_warps | (read.data & had)", "self.i_warps"
        ),
        "first-clock-of-the-last-warp": Patch(
            STATES, "before.bit_select(place, 1) & (self.i_clock > latest)",
            "before.bit_select(place, 1)",
        ),
        "full-clock-not-told": Patch(
            STATES, "self.i_state.clock >= self._params.last_clock",
            "self.i_state.clock == self._params.last_clock",
        ),
    },
    cycles=16,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
