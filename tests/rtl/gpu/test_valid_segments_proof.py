"""Proof: nothing is read that was not written since the launch, if it has a bit in the table."""

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.accessor_proof import (
    ACCESSOR_SIZES,
    ACCESSOR_WITH_TABLE,
    AccessorHarness,
)
from tests.support.scord.planted_bugs import PLANTED_BUGS

PROOF = Proof(
    rule="No segment with a bit in the table is read before it has been written since the "
    "launch. A segment requested since the launch is written, or held by the window.",
    sizes=f"{ACCESSOR_SIZES}, of which 4 have a bit",
    harness=lambda case: AccessorHarness(ACCESSOR_WITH_TABLE, case, "valid"),
    depth=4,
    events=("read-once-written", "held-and-not-written", "launched-again"),
    bugs={
        "new-entry-read": Patch("gpu/hazard_window.py", "with m.If(self._is_new):", "if False:"),
        "window-never-forwards": PLANTED_BUGS["window-never-forwards"].patch,
        "retires-before-the-answer": PLANTED_BUGS["write-back-does-not-wait"].patch,
        "changed-entries-not-written": Patch(
            "gpu/write_back.py", "skip.eq((passed != checked) & ~slot_changed)",
            "skip.eq(passed != checked)",
        ),
    },
    cycles=14,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
