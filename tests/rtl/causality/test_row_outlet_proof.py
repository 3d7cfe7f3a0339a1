"""Proof: a warp goes on behind its newest row, which each bank has taken once."""

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.settling_proof import OUTLET, OutletHarness
from tests.support.formal.proof import Proof, proof_tests

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=2, banks=2, clock_bits=3, hash_bits=2,
)  # fmt: skip
PROOF = Proof(
    rule="Each bank takes each row once, and it is the newest one; the warp's resume is offered to "
    "its SM, once and unchanged, when all banks have taken the row that left with it.",
    sizes="2 banks, 2 SMs",
    harness=lambda case: OutletHarness(_PARAMS, case),
    depth=1,
    events=("one-bank-late", "resume-waits", "row-alone", "resume-alone"),
    bugs={
        "goes-on-before-the-row": Patch(OUTLET, "has_resume & ~has_row & (sm == number)",
                                        "has_resume & (sm == number)"),
        "one-bank-is-enough": Patch(
            OUTLET, "has_row.eq(~has_taken.all())", "has_row.eq(~has_taken.any())"
        ),
        "row-given-again": Patch(OUTLET, "has_row & ~taken[number]", "has_row"),
        "taken-of-the-row-before": Patch(OUTLET, "sm.eq(self.i_sm), taken.eq(0)",
                                         "sm.eq(self.i_sm)"),
        "resume-of-another-sm": Patch(OUTLET, "(sm == number)", "(sm != number)"),
    },
    cycles=6,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
