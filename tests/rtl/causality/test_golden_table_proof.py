"""Proof: one step of a table of knowledge is the golden model's."""

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.golden_proof import TABLE, PutHarness
from tests.support.formal.proof import Proof, proof_tests

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=2, clock_bits=3, hash_bits=2, known=2
)
PROOF = Proof(
    rule="A table that takes an exact entry, or another table's bits, becomes bit for bit the "
    "golden model's, and evicts when that does: every path of the golden code is run on symbols.",
    sizes="tables of 0, 1 and 2 exact entries, 2 hash bits, 4 warp slots and 4 block slots, clocks "
    "of 3 bits",
    harness=lambda case: PutHarness(_PARAMS, 2, case),
    depth=1,
    events=("evicts", "keeps-its-place"),
    bugs={
        "last-of-the-oldest-makes-room": Patch(
            TABLE, "place.clock + (other < number)", "place.clock + (other > number)"
        ),
        "same-clock-is-new": Patch(TABLE, "& is_more", "& 1"),
        "direct-counts-more-than-the-clock": Patch(
            TABLE, "Cat(new.direct, new.clock) > Cat(place.direct, place.clock)",
            "Cat(new.clock, new.direct) > Cat(place.clock, place.direct)",
        ),
        "direct-entry-is-covered": Patch(TABLE, "new.direct | ~covered", "~covered"),
        "older-entry-makes-room": Patch(
            TABLE, "self.i_usable.any() & (old < new.clock)", "self.i_usable.any()"
        ),
        "fences-of-the-other-alone": Patch(TABLE, "table.fenced | self.i_fenced", "self.i_fenced"),
    },
    cycles=1,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
