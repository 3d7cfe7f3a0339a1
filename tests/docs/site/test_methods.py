"""Tables of the methods: every module, the paper's sections, the hardware."""

import pytest

from docs.site.methods import METHODS, method_table
from tests.support import REPOSITORY


@pytest.mark.parametrize("method", METHODS)
def test_every_module_has_a_row_that_says_what_it_is(method):
    rows = [line.strip("| ").split(" | ") for line in method_table(method).splitlines()[2:]]
    files = sorted((REPOSITORY / "golden_model" / method).glob("[!_]*.py"))
    assert [row[0] for row in rows] == [f"`{method}/{file.name}`" for file in files]
    for row in rows:
        assert row[1], row


def test_a_row():
    assert (
        "\n| `scord/fence_file.py` | Fence file: two wrapping counters for each warp slot of the "
        "GPU. | ScoRD (ISCA'20) Section IV, Fig. 6, and Section IV-C. | yes |\n"
    ) in method_table("scord")


def test_most_parts_of_the_papers_name_a_section():
    for method in ("scord", "sigrace"):
        rows = method_table(method).splitlines()[2:]
        assert sum("Section" in row or "Table" in row for row in rows) > len(rows) / 2
