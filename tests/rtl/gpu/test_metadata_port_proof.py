"""Proof: a metadata port keeps AXI4's rules, whatever the memory does."""

import pytest

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Case, Proof, proof_tests
from tests.support.formal.prover import holds_always
from tests.support.scord.accessor_proof import (
    ACCESSOR,
    ACCESSOR_SIZES,
    ACCESSOR_WITH_TABLE,
    APART_ACCESSOR,
    WIDE_ACCESSOR,
    AccessorHarness,
)

PROOF = Proof(
    rule="A waiting request of a metadata port is stable, stays within one 4 KiB page, and has an "
    "id without an unanswered read.",
    sizes=f"{ACCESSOR_SIZES}; also segments of 2 words, no merging, a table of valid segments",
    harness=lambda case: AccessorHarness(ACCESSOR, case, "port"),
    depth=4,
    events=("four-reads", "both-wait"),
    bugs={
        "read-offered-for-a-cycle": Patch(
            "gpu/hazard_window.py", "with m.If(~self.o_read.valid | self.o_read.ready):",
            "if True:",
        ),
        "slot-given-twice": Patch(
            "gpu/hazard_window.py", "is_full.eq((claimed ^ retired) == slots)", "is_full.eq(0)"
        ),
        "data-overwritten": Patch(
            "gpu/entry_writer.py", " & (~entry_waits | axi.wready))", ")"
        ),
    },
    cycles=14,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)


@pytest.mark.campaign
@pytest.mark.parametrize(
    "params", [WIDE_ACCESSOR, APART_ACCESSOR, ACCESSOR_WITH_TABLE], ids=["wide", "apart", "table"]
)
def test_other_accessors(params):
    assert holds_always(AccessorHarness(params, Case(), "port"), depth=4)
