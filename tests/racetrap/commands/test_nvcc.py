"""Programs of several files, and those that a build makes by `racetrap nvcc`."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.support.gpu.cuda_programs import needs_compiler

pytestmark = needs_compiler

_RACETRAP = f"{sys.executable} -m racetrap"
_FILES = {
    "main.cu": """
#include <cstdio>
#include <cuda_profiler_api.h>
#include "sum.h"
__global__ void sum(int *out) { add(out, step * blockIdx.x); }
int main(int count, char **arguments) {
  int *out, found = 0;
  cudaMalloc(&out, sizeof found);
  cudaMemset(out, 0, sizeof found);
  cudaProfilerStart();
  sum<<<2, 1>>>(out);
  cudaMemcpy(&found, out, sizeof found, cudaMemcpyDeviceToHost);
  std::printf("%s: %d\\n", name(), found);
  return count > 1 && arguments[1][0] != 'o';
}
""",
    "sum.h": "extern __device__ int step;\n__device__ void add(int *, int);\nconst char *name();\n",
    "add.cu": """#include "sum.h"
__device__ int step = 4;
__device__ void add(int *out, int more) {
  *out += more;
}
""",
    "name.cpp": "#define TEXT(name) #name\n#define TEXT_OF(name) TEXT(name)\n"
    "const char *name() { return TEXT_OF(NAME); }\n",
    "makefile": """
program: main.o libadd.a
\t$(NVCC) $(FLAGS) -o $@ $^
libadd.a: add.o name.o
\tar rcs $@ $^
%.o: %.cu sum.h
\t$(NVCC) $(FLAGS) -lineinfo -MMD -c -o $@ $<
%.o: %.cpp
\t$(NVCC) -DNAME=made -c -o $@ $<
""",
    "CMakeLists.txt": """
cmake_minimum_required(VERSION 3.18)
project(sum LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_executable(program main.cu add.cu name.cpp)
target_compile_definitions(program PRIVATE NAME=built)
target_link_libraries(program PRIVATE CUDA::cudart)
set_target_properties(program PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
""",
}
_INPUTS = ("main.cu", "add.cu", "name.cpp", "-rdc=true", "-Xcompiler", "-DNAME=run")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in _FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def _assert_race(racetrap, capfd, name, *words):
    done = racetrap("run", "--no-cures", "--schedules", 1, *words)
    assert done.exit_code == 1, done.output
    assert "add.cu:4: race: store races with load at " in done.stdout
    assert "in add, called at main.cu:5 in sum\n" in done.stdout
    assert capfd.readouterr().out.startswith(f"{name}: 4\n")
    assert "cudaProfilerStart" not in done.output


def test_files_that_are_compiled_separately(racetrap, capfd, folder):
    (folder / "other.o").touch()  # an argument, not an input
    _assert_race(racetrap, capfd, "run", *_INPUTS, "--", "other.o")


@pytest.mark.campaign
def test_cure_in_a_file_of_its_own(racetrap):
    done = racetrap(*_INPUTS)  # the front door
    assert done.exit_code == 1, done.output
    assert "help: change `*out += more` to `atomicAdd(&*out, more)` at add.cu:4" in done.stdout, (
        done.stdout
    )


@pytest.mark.campaign
@pytest.mark.parametrize("variable", ["racetrap nvcc", "--toolkit"])
def test_make(racetrap, capfd, variable):
    toolkit = racetrap("nvcc", "--toolkit").stdout.strip()
    nvcc = f"{_RACETRAP} nvcc" if variable == "racetrap nvcc" else f"{toolkit}/bin/nvcc"
    flags = "-O2 -rdc=true -cudart static -G -gencode arch=compute_60,code=sm_60 -arch=sm_80"
    subprocess.run(["make", f"NVCC={nvcc}", f"FLAGS={flags}"], check=True)
    capfd.readouterr()
    _assert_race(racetrap, capfd, "made", "./program")
    _assert_race(racetrap, capfd, "made", "main.o", "libadd.a", "-rdc=true", "-arch=sm_80")


@pytest.mark.campaign
@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs CMake")
def test_cmake(racetrap, capfd):
    toolkit = racetrap("nvcc", "--toolkit").stdout.strip()
    subprocess.run(
        ["cmake", "-B", "build", f"-DCMAKE_CUDA_COMPILER={toolkit}/bin/nvcc",
         f"-DCUDAToolkit_ROOT={toolkit}", "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared"], check=True,
    )  # fmt: skip
    subprocess.run(["cmake", "--build", "build"], check=True)
    capfd.readouterr()
    _assert_race(racetrap, capfd, "built", "build/program")


_LIBRARIES = """
#include <cstdio>
#include <cublas_v2.h>
#include <cufft.h>
#include <cufftXt.h>
#include <curand.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>
int main(int count, char **) {
  nvtx3::scoped_range range("all");
  nvtxRangePush("all");
  cublasHandle_t blas;
  cufftHandle plan;
  curandGenerator_t numbers;
  if (count > 1) {
    cufftPlan1d(&plan, 8, CUFFT_C2C, 1);
    curandCreateGenerator(&numbers, CURAND_RNG_PSEUDO_DEFAULT);
    if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS) return 1;
    const float one = 1;
    cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, &one, 1, &one, 1, &one, nullptr, 1);
  }
  return nvtxRangePop();
}
"""
_PLAIN_C = "#include <cublas_v2.h>\nint call(cublasHandle_t *blas) { return cublasCreate(blas); }\n"


@pytest.mark.campaign
def test_functions_of_other_libraries_are_refused_when_called(racetrap, folder):
    (folder / "other.cu").write_text(_LIBRARIES)
    (folder / "plain.c").write_text(_PLAIN_C)
    words = ("run", "other.cu", "plain.c", "-lcublas", "-lcufft", "-lcurand", "--schedules", 1)
    (quiet, called) = (racetrap(*words, "--json", "-", *more) for more in ([], ["--", "1"]))
    assert (quiet.exit_code, json.loads(quiet.stdout)["problems"]) == (0, [])
    names = ("cufftPlan1d", "curandCreateGenerator", "cublasCreate")
    assert called.exit_code == 3
    assert json.loads(called.stdout)["problems"] == [f"{name} is not supported" for name in names]


def test_a_wrong_word_is_an_error_of_ours_or_of_the_compiler(racetrap):
    done = racetrap("nvcc", "main.cu", "-arch=sm_60")
    assert (done.exit_code, "Architecture must be from sm_75 to sm_121" in done.stderr) == (2, True)
    done = subprocess.run(
        [*_RACETRAP.split(), "nvcc", "--nothing"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Unknown option '--nothing'" in done.stderr) == (1, True), done
    assert os.path.isdir(racetrap("nvcc", "--toolkit").stdout.strip())
