"""Sources of programs for trials of edits."""

import pytest

from racetrap.sim.gpu.cuda.toolkit import CompilerOptions, compile_ptx
from racetrap.verdict.gpu.cure.programs import program_sources
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
