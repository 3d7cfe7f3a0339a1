"""The page of proofs lists every proof that is kept as data, as it is."""

from tests.proofs import all_proofs, row_of
from tests.support import REPOSITORY

_PAGE = (REPOSITORY / "docs" / "proofs.md").read_text(encoding="utf-8")


def test_the_page_lists_every_proof():
    listed = [line for line in _PAGE.splitlines() if line.startswith("| `tests/rtl/")]
    for line, (file, proof) in zip(listed, all_proofs().items(), strict=True):
        assert line.startswith(row_of(file, proof))
