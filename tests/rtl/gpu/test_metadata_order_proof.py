"""Proof: no metadata is read while a write of it is unanswered."""

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
from tests.support.scord.planted_bugs import PLANTED_BUGS

PROOF = Proof(
    rule="No entry is read from memory between the request of a write to it and the response, "
    "also during and after a launch's initialisation.",
    sizes=f"{ACCESSOR_SIZES}; also segments of 2 words, no merging, a table of valid segments",
    harness=lambda case: AccessorHarness(ACCESSOR, case, "order"),
    depth=4,
    events=("read-beside-a-write", "read-after-the-answer"),
    bugs={
        "retires-before-the-answer": PLANTED_BUGS["write-back-does-not-wait"].patch,
        "window-never-forwards": PLANTED_BUGS["window-never-forwards"].patch,
        "answer-counts-twice": Patch(
            "gpu/write_back.py", "answers + self.i_done -", "answers + 2 * self.i_done -"
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
    assert holds_always(AccessorHarness(params, Case(), "order"), depth=4)
