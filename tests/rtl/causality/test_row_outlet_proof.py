"""Proof: a warp goes on behind its newest row, which is in force at each bank."""

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.settling_proof import OUTLET, OutletHarness
from tests.support.formal.proof import Proof, proof_tests

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=2, banks=2, clock_bits=3, hash_bits=2,
)  # fmt: skip
PROOF = Proof(
    rule="Each bank takes each row once, and it is the newest one. The warp's resume is offered "
    "to its SM, or to all, once and unchanged, when the row that left with it is in force at "
    "every bank, however late banks take it and signal so.",
    sizes="2 banks, 2 SMs",
    harness=lambda case: OutletHarness(_PARAMS, case),
    depth=1,
    events=(
        "one-bank-late", "one-bank-on-its-way", "resume-waits", "one-sm-late", "row-alone",
        "resume-alone",
    ),
    bugs={
        "goes-on-before-the-row": Patch(OUTLET, "due[number] & ~has_row", "due[number]"),
        "goes-on-when-it-is-taken": Patch(
            OUTLET, "has_row.eq(~has_arrived.all())",
            "has_row.eq(~(taken | Cat(port.ready for port in self.o_row)).all())",
        ),
        "one-bank-is-enough": Patch(
            OUTLET, "has_row.eq(~has_arrived.all())", "has_row.eq(~has_arrived.any())"
        ),
        "row-given-again": Patch(OUTLET, "has_row & ~taken[number]", "has_row"),
        "taken-of-the-row-before": Patch(OUTLET, "taken.eq(0), arrived.eq(0)", "arrived.eq(0)"),
        "in-force-of-the-row-before": Patch(OUTLET, "taken.eq(0), arrived.eq(0)", "taken.eq(0)"),
        "resume-of-another-sm": Patch(OUTLET, "1 << self.i_sm", "2 >> self.i_sm"),
        "one-sm-is-enough": Patch(OUTLET, "due.eq(due & ~given)", "due.eq(0)"),
    },
    cycles=6,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
