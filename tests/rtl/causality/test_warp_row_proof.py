"""Proof: a packet finds the row and the branches that its warp had last."""

from dataclasses import replace

import pytest

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.rows_proof import ROWS, RowsHarness
from tests.support.formal.proof import Case, Proof, proof_tests
from tests.support.formal.prover import holds_always

_PARAMS = CausalityParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=2, clock_bits=3, hash_bits=1, known=1, records=1,
    levels=1, ratio=2, address_bits=16, pc_bits=8,
)  # fmt: skip
PROOF = Proof(
    rule="A packet is checked with its warp's newest row, and with the branches or barriers of "
    "lanes as all packets before it left them; each change starts from these. No word is used "
    "that was read while it was written. A launch and an epoch leave what the golden model "
    "leaves.",
    sizes="2 warps, one record; also in lockstep with one level",
    harness=lambda case: RowsHarness(_PARAMS, case),
    depth=1,
    events=(
        "changed-just-ahead", "changed-two-ahead", "row-behind-a-branch", "behind-an-epoch",
    ),
    bugs={
        "change-just-ahead-of-any-warp": Patch(
            ROWS, "changes & (packet.warp == following.warp)", "changes"
        ),
        "change-two-ahead-not-seen": Patch(
            ROWS, "changed.valid & (changed.warp == following.warp)", "changed.valid & 0"
        ),
        "change-at-the-edge-of-the-read": Patch(
            ROWS, "older.valid & (older.warp == following.warp)", "older.valid & 0"
        ),
        "change-without-a-packet": Patch(
            ROWS, "is_following & (following.kind >= first)", "following.kind >= first"
        ),
        "met-at-a-barrier-not-forgotten": Patch(ROWS, "row.p.begins | row.p.met", "row.p.begins"),
        "row-of-the-packet-behind": Patch(
            ROWS, "row.addr.eq(warp)", "row.addr.eq(self.i_packet.warp)"
        ),
        "first-clock-of-the-packet-behind": Patch(
            ROWS, "self.o_row.start.eq(self._start_before)", "self.o_row.start.eq(self.o_start)"
        ),
        "row-while-a-change-is-written": Patch(
            ROWS, "self.i_row.ready.eq(~is_written & ~self.o_busy)",
            "self.i_row.ready.eq(~self.o_busy)",
        ),
        "epoch-orders-lanes-from-one-on": Patch(
            ROWS, "cleared.lanes_before.eq(~of_epoch)", "cleared.lanes_before.eq(1)"
        ),
    },
    cycles=16,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)


@pytest.mark.campaign
def test_in_lockstep():
    params = replace(_PARAMS, independent_threads=False)
    assert holds_always(RowsHarness(params, Case()), depth=1)
