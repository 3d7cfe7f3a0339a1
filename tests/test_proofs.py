"""Proofs that are kept as data: the page lists each as it is, and its harness fits the RTL."""

import pytest
from amaranth.hdl import Fragment

from tests.proofs import all_proofs, row_of
from tests.support import REPOSITORY
from tests.support.formal.proof import Case

_PAGE = (REPOSITORY / "docs" / "proofs.md").read_text(encoding="utf-8")


def test_the_page_lists_every_proof():
    listed = [line for line in _PAGE.splitlines() if line.startswith("| `tests/rtl/")]
    for line, (file, proof) in zip(listed, all_proofs().items(), strict=True):
        assert line.startswith(row_of(file, proof))


@pytest.mark.parametrize("proof", all_proofs().values(), ids=all_proofs())
def test_a_harness_fits_the_rtl(proof):
    """It names registers; whether the proof holds takes longer to see."""
    Fragment.get(proof.harness(Case()), None)
