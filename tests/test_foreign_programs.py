"""Check of programs of others: each must compile, run, print what is right, and race only if known
to."""

import dataclasses

from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from tests.foreign_programs import DRIVERS, FOREIGN_PROGRAMS
from tests.support.gpu.cuda_programs import needs_compiler
from tests.support.gpu.measured_check import measure_check

_PROGRAM = """#include <cstdio>
__global__ void set(int *value);
int main() {
  int *device, host;
  cudaMalloc(&device, 4);
  set<<<1, 1>>>(device);
  cudaMemcpy(&host, device, 4, cudaMemcpyDeviceToHost);
  std::printf("%d wrong\\n", host - 45);
}
"""


def test_every_driver_has_a_program_and_every_program_code():
    drivers = {path.stem for path in DRIVERS.glob("*.cu")}
    assert drivers == {name for name, each in FOREIGN_PROGRAMS.items() if each.has_driver}
    assert [
        n for n, each in FOREIGN_PROGRAMS.items() if not (each.has_driver or each.sources)
    ] == []
    assert len(FOREIGN_PROGRAMS) >= 12
    assert sum(name.startswith("thrust_") for name in FOREIGN_PROGRAMS) <= 3


@needs_compiler
def test_verdict_on_a_program(tmp_path):
    main, kernel = tmp_path / "foreign.cu", tmp_path / "kernel.cu"
    main.write_text(_PROGRAM)
    kernel.write_text("__global__ void set(int *value) { *value = 45; }\n")
    found = measure_check([main, kernel], CompilerOptions(("-rdc=true",)), tmp_path)
    program = FOREIGN_PROGRAMS["darknet_pooling"]
    assert (found.problem, found.launches) == ("", 1)
    assert program.is_as_expected(found)
    for change in (
        {"printed": "1 wrong"}, {"status": 1}, {"problem": "no end"}, {"races": ["a.cu:1"]},
    ):  # fmt: skip
        assert not program.is_as_expected(dataclasses.replace(found, **change))
    assert not dataclasses.replace(program, own_races="because").is_as_expected(found)
