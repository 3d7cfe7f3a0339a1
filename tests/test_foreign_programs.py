"""Check of programs of others: each must compile, run, and print what is right."""

import pytest

from tests.foreign_programs import check_foreign_program
from tests.support.gpu.cuda_programs import needs_compiler

_PROGRAM = """#include <cstdio>
__global__ void set(int *value) { *value = 45; }
int main() {
  int *device, host;
  cudaMalloc(&device, 4);
  set<<<1, 1>>>(device);
  cudaMemcpy(&host, device, 4, cudaMemcpyDeviceToHost);
  std::printf("sum of values is %d\\n", host);
}
"""


@needs_compiler
@pytest.mark.parametrize(("wanted", "passed"), [("values is 45", True), ("values is 46", False)])
def test_verdict_on_a_program(tmp_path, wanted, passed):
    source = tmp_path / "foreign.cu"
    source.write_text(_PROGRAM)
    found, seen = check_foreign_program(source, wanted, tmp_path)
    assert found == passed
    assert "1 launches" in seen
    assert ("it does not print" in seen) == (not passed)
