"""Proof: a table of knowledge never claims less than it has been given."""

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.table_proof import FILE, TableHarness
from tests.support.formal.proof import Proof, proof_tests

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=2, clock_bits=3, hash_bits=2, known=2
)
PROOF = Proof(
    rule="A table claims every access that it has been given since it was emptied, by exact "
    "entries or by other tables' bits, and finds it when asked. It names every fence, and marks "
    "no warp as known by its own message that is not.",
    sizes="tables of 0, 1 and 2 exact entries, 2 hash bits, 4 warp slots and 4 block slots, clocks "
    "of 3 bits",
    harness=lambda case: TableHarness(_PARAMS, 2, case),
    depth=1,
    events=(
        "kept-exactly", "moved-to-the-bits", "not-claimed-by-a-full-table",
        "a-warp-of-another-block",
    ),
    bugs={
        "evicted-up-to-its-clock": Patch(FILE, "[lossy, clock + 1]", "[lossy, clock]"),
        "evicted-to-the-bit-of-the-new-one": Patch(
            FILE, "one_hot_select(oldest, bits)", "new_bit"
        ),
        "block-goes-with-the-slot": Patch(FILE, "& (place.slot == new.slot)", ""),
        "smaller-clock-replaces": Patch(
            FILE, "used[number] & same[number] & is_more", "used[number] & same[number]"
        ),
        "bit-without-its-clock": Patch(
            FILE, "& (new.clock < table.lossy)", "& (new.clock <= table.lossy)"
        ),
        "lossy-clock-of-the-other-dropped": Patch(
            FILE, "[table.lossy, self.i_lossy]", "[table.lossy]"
        ),
    },
    cycles=6,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
