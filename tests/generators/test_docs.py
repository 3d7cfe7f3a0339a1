"""The generated pages of the documentation are those that the sources give."""

import re

import pytest

from racetrap.generators.docs import presets_page, write_pages
from racetrap.generators.presets import PRESETS, with_settings
from tests.support import REPOSITORY

DOCS = REPOSITORY / "docs"


@pytest.mark.parametrize(
    "page", ["registers-noncoherent.md", "registers-scord.md", "registers-sigrace.md", "presets.md"]
)
def test_page_is_current(tmp_path, page):
    write_pages(tmp_path)
    assert (DOCS / page).read_text() == (tmp_path / page).read_text(), (
        "run `python -m racetrap.generators.docs docs`"
    )


def test_values_of_presets_are_as_they_are_set():
    tables = re.findall(r"(?m)^\| parameter \|.*\n(?:\|.*\n)+", presets_page())
    shown = []
    for table in tables:
        (_, *names), _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines()]
        for number, name in enumerate(names, 1):
            preset = PRESETS[name.strip("`")]
            settings = [f"{row[0].strip('`')}={row[number]}" for row in rows]
            assert with_settings(preset.params, settings) == preset.params
            shown.append(preset.name)
    assert sorted(shown) == sorted(PRESETS)
