"""The page on the programs is what their list says."""

import re

from racetrap.sim.gpu.suites.weak_memory.docs import programs_page
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS
from tests.support import REPOSITORY

PAGE = REPOSITORY / "docs" / "weak-memory-programs.md"
COMMAND = "python -m racetrap.sim.gpu.suites.weak_memory.docs docs/weak-memory-programs.md"


def test_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == programs_page(), f"run `{COMMAND}`"


def test_every_difference_of_the_oracle_is_explained():
    page = programs_page()
    for program in PROGRAMS.values():
        for variant in program.variants:
            assert (variant.is_racy != bool(variant.lacks)) == bool(variant.oracle)
            assert variant.oracle in page


def test_tests_that_the_page_names_are_there():
    names = set(re.findall(r"\S+\.litmus", programs_page().replace("(", " ").replace("`", " ")))
    assert len(names) == 8
    for name in names:
        assert (REPOSITORY / "docs" / "examples" / "litmus" / name).is_file(), name
