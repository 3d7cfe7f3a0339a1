"""CUDA to PTX."""

import pytest

from racetrap.sim.failure import Failure
from racetrap.sim.gpu.launch import nvrtc
from racetrap.sim.gpu.launch.nvrtc import CudaError, compile_cuda, has_nvrtc
from racetrap.sim.gpu.ptx.parser import parse_ptx

needs_nvrtc = pytest.mark.skipif(not has_nvrtc(), reason="the extra `cuda` is not installed")

SOURCE = """\
extern "C" __global__ void count(int *total) {
  atomicAdd_block(total, STEP);
}
"""


@needs_nvrtc
def test_ptx_has_lines_and_scopes_but_no_folder(tmp_path, monkeypatch):
    text = compile_cuda(SOURCE, "count.cu", ["-DSTEP=3"])
    assert "atom.global.cta.add.u32" in text
    assert '.file\t1 "count.cu"' in text
    monkeypatch.chdir(tmp_path)
    assert compile_cuda(SOURCE, "count.cu", ["-DSTEP=3"]) == text
    locations = {
        instruction.location.line
        for instruction in parse_ptx(text, "count.ptx").functions["count"].instructions
        if instruction.opcode == "atom"
    }
    assert locations == {2}


@needs_nvrtc
def test_headers_are_found_by_name():
    text = compile_cuda('#include "step.cuh"\n' + SOURCE, "a.cu", headers={
        "step.cuh": "constexpr int STEP = 77;\n"
    })  # fmt: skip
    assert "77" in text


@needs_nvrtc
def test_errors_have_the_compilers_log():
    with pytest.raises(CudaError, match=r"(?s)a\.cu does not compile.*a\.cu\(2\).*STEP"):
        compile_cuda(SOURCE, "a.cu")


def test_missing_compiler_is_one_sentence(monkeypatch):
    monkeypatch.setattr(nvrtc, "_library_folder", lambda: None)
    nvrtc._nvrtc.cache_clear()
    assert not has_nvrtc()
    with pytest.raises(Failure, match=r"install the extra `cuda` by `[^`]+`$") as caught:
        compile_cuda(SOURCE, "a.cu")
    assert "\n" not in str(caught.value)
