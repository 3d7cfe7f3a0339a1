"""Names of every kind of object in a program: no bare address."""

import os
import re

import pytest

from racetrap.presenters.race_findings import object_text
from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.cuda.program_run import run_program
from racetrap.sim.gpu.cuda.runtime_library import runtime_library
from racetrap.sim.gpu.cuda.toolkit import compile_program
from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.support import REPOSITORY
from tests.support.gpu.cuda_programs import needs_compiler

FOLDER = REPOSITORY / "tests" / "support" / "gpu" / "objects"
_LINES = {
    f"{path.name}:{number}": line
    for path in FOLDER.glob("*.cu*")
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
}
#: Places by the word in a comment at the end of a line.
_MARKS = {
    found[1]: place for place, line in _LINES.items() if (found := re.search(r"// (\w+)$", line))
}
_MARKS |= {
    mark: next(place for place, line in _LINES.items() if f"cudaMalloc({text}" in line)
    for mark, text in (("device_array", "&pointer"), ("allocate", "pointer"))
}
WANTED = {
    place: line.partition("// object: ")[2]
    for place, line in _LINES.items()
    if "// object: " in line
}

pytestmark = [needs_compiler, pytest.mark.xdist_group("objects")]


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """Names of objects by the line of the later access."""
    program = tmp_path_factory.mktemp("objects") / "program"
    source = FOLDER / "objects.cu"
    compile_program([source], program, runtime_library(), CompilerOptions())
    with open(os.devnull, "wb") as nowhere:
        run = run_program([str(program)], RunSettings(output=nowhere.fileno()))
    check = TraceCheck(folder=FOLDER)
    check.add(run.trace)
    return {
        pair.first.later.place.rpartition("/")[2]: object_text(
            pair.first.memory_object, pair.first.element, pair.first.details
        ).replace(f"{FOLDER.relative_to(REPOSITORY)}/", "").replace(f"{FOLDER}/", "")
        for pair in check.pairs
    }  # fmt: skip


@pytest.mark.parametrize("place", WANTED)
def test_an_object_has_the_name_of_the_source(named, place):
    wanted = re.escape(WANTED[place]).replace(re.escape("{number}"), r"\d+")
    for mark, marked in _MARKS.items():
        wanted = wanted.replace(re.escape(f"{{{mark}}}"), re.escape(marked))
    assert re.fullmatch(wanted, named[place])


def test_every_line_that_races_has_an_object(named):
    assert set(named) == set(WANTED)
