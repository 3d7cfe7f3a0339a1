"""The page on the programs of weak memory says of each variant what its list does."""

import re

from docs.site.weak_memory_programs import programs_tables
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS
from tests.support import REPOSITORY

PAGE = REPOSITORY / "docs" / "weak-memory-programs.md"


def test_every_difference_of_the_oracle_is_explained():
    page = programs_tables()
    for program in PROGRAMS.values():
        for variant in program.variants:
            assert (variant.is_racy != bool(variant.lacks)) == bool(variant.oracle)
            assert variant.oracle in page
            assert f"\n| `{variant.name}` | {variant.table} | {variant.what_lacks} | " in page


def test_tests_that_the_page_names_are_there():
    text = PAGE.read_text(encoding="utf-8") + programs_tables()
    names = set(re.findall(r"\S+\.litmus", text.replace("(", " ").replace("`", " ")))
    assert len(names) == 8
    for name in names:
        assert (REPOSITORY / "docs" / "examples" / "litmus" / name).is_file(), name
