"""The PTX kept beside our CUDA sources."""

import pytest

from racetrap.sim.gpu.launch.kernel_files import (
    PACKAGES,
    compile_kernels,
    kernel_folder,
    kernel_sources,
    load_kernels,
)
from racetrap.sim.gpu.launch.nvrtc import has_nvrtc
from tests.support.gpu.constructs.cases import PACKAGE

_OTHERS = (PACKAGE, "tests.support.gpu.clusters", "tests.support.gpu.places")
SOURCES = kernel_sources(*_OTHERS)


def test_every_source_is_found():
    stems = {source.stem for source in SOURCES}
    assert {"matrix_multiplication", "reduction", "unbalanced_tree_search"} <= stems
    assert {source.with_suffix(".ptx") for source in SOURCES} == {
        path for package in (*PACKAGES, *_OTHERS) for path in kernel_folder(package).glob("*.ptx")
    }


@pytest.mark.skipif(not has_nvrtc(), reason="the extra `cuda` is not installed")
@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_kept_ptx_is_what_the_source_compiles_to(source):
    assert source.with_suffix(".ptx").read_text(encoding="utf-8") == compile_kernels(source)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_kept_ptx_names_files_without_folders(source):
    lines = source.with_suffix(".ptx").read_text(encoding="utf-8").splitlines()
    files = [line.split('"')[1] for line in lines if line.strip().startswith(".file")]
    assert source.name in files
    for file in files:
        assert "/" not in file


def test_kernels_are_parsed_once():
    module = load_kernels(PACKAGES[0], "reduction")
    assert load_kernels(PACKAGES[0], "reduction") is module
    assert module.functions["reduce"].is_kernel
    with pytest.raises(FileNotFoundError):
        load_kernels(PACKAGES[0], "nothing")
    with pytest.raises(ValueError, match=r"^Package racetrap\.sim\.tools cannot be imported"):
        kernel_folder("racetrap.sim.tools")
