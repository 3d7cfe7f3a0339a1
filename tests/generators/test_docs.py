"""The generated pages of the documentation are those that the sources give."""

from pathlib import Path

import pytest

from racetrap.generators.docs import write_pages

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["registers-scord.md", "registers-sigrace.md", "presets.md"])
def test_page_is_current(tmp_path, page):
    write_pages(tmp_path)
    assert (DOCS / page).read_text() == (tmp_path / page).read_text(), (
        "run `python -m racetrap.generators.docs docs`"
    )
