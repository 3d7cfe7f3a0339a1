"""Proofs that are kept as data: the page lists each as it is, and its harness fits the RTL."""

import pytest
from amaranth.hdl import Assert, Fragment, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from tests.proofs import all_proofs, row_of
from tests.support import REPOSITORY
from tests.support.formal.proof import Case, Proof

_PAGE = (REPOSITORY / "docs" / "proofs.md").read_text(encoding="utf-8")


def test_the_page_lists_every_proof():
    listed = [line for line in _PAGE.splitlines() if line.startswith("| `tests/rtl/")]
    for line, (file, proof) in zip(listed, all_proofs().items(), strict=True):
        assert line.startswith(row_of(file, proof))


@pytest.mark.parametrize("proof", all_proofs().values(), ids=all_proofs())
def test_a_harness_fits_the_rtl(proof):
    """It names registers; whether the proof holds takes longer to see."""
    Fragment.get(proof.harness(Case()), None)


class _Product(wiring.Component):
    """A product of two numbers whose order makes no difference: no solver of this kind sees it."""

    one: In(40)
    other: In(40)

    def elaborate(self, platform):
        m = Module()
        swapped = sum((self.one << place) * bit for place, bit in enumerate(self.other))
        m.d.comb += Assert(self.one * self.other == swapped)
        return m


def test_a_proof_without_an_end_fails_in_time():
    proof = Proof(
        rule="", sizes="", harness=lambda case: _Product(), depth=3, events=(), bugs={}, seconds=2
    )
    message = "_Product has no answer at a depth of 3 cycles after 2 s of CPU time. Make its sizes "
    with pytest.raises(TimeoutError, match=message):
        proof.holds()
