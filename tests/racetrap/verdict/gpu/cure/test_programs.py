"""Sources of programs for trials of edits."""

from pathlib import Path

import pytest

from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.cuda.toolkit import compile_ptx
from racetrap.sim.gpu.editing.edits import Edit
from racetrap.sim.gpu.stress.subject import instruction_limit
from racetrap.verdict.gpu.cure.programs import program_sources
from racetrap.verdict.gpu.cure.trials import Program, Ran, Sources
from tests.support.gpu.cuda_programs import needs_compiler

_KERNEL = '#include "value.cuh"\n__global__ void k(int *a) { *a = VALUE; }\n'


@pytest.fixture
def files(tmp_path):
    """Two sources in folders beside each other, each with a header in its own."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "value.cuh").write_text("#define VALUE 1\n")
        (tmp_path / name / "k.cu").write_text(_KERNEL)
    return [tmp_path / name / "k.cu" for name in ("one", "two")]


def test_sources_of_two_folders_are_named_below_the_one_that_they_share(files, tmp_path):
    sources = program_sources(files, ["app"], CompilerOptions(), lambda number: None)
    assert sources.folder == tmp_path.resolve()
    assert set(sources.texts) == {
        f"{name}/{file}" for name in ("one", "two") for file in ("k.cu", "value.cuh")
    }


@needs_compiler
def test_lines_of_a_source_are_named_below_the_folder_given(files, tmp_path):
    assert '"two/k.cu"' in compile_ptx(files[1], CompilerOptions(), tmp_path)
    assert '"k.cu"' in compile_ptx(files[1], CompilerOptions())


class Counted(Program):
    """A program that takes a number of instructions, and keeps the limits of its runs."""

    def __init__(self):
        self.limits = []

    def run(self, number, limit=None):
        self.limits.append(limit)
        return Ran(None, set(), 100 + number)

    def subject(self):
        raise ValueError


def test_edited_program_that_takes_far_longer_than_the_original_hangs():
    program = Counted()
    sources = Sources(Path(), {"k.cu": b""}, lambda folder: program)
    sources.outcome((), range(3))
    sources.outcome((Edit("k.cu", 0, 0, ";"),), range(1))
    assert program.limits == [None, None, None, instruction_limit(102)]
