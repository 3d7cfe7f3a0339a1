"""Whole programs under weak memory."""

from itertools import islice

import pytest

from racetrap.golden_model.ptx_memory_model.operational import InOrder
from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.stress import program_subject
from racetrap.sim.gpu.stress.advice import Advisor
from racetrap.sim.gpu.stress.patch import make_patch
from racetrap.sim.gpu.stress.program_subject import ProgramSubject
from racetrap.sim.gpu.stress.search import find_witness, random_runs, replay, shrink
from racetrap.sim.gpu.stress.subject import Failure
from tests.support.gpu.cuda_programs import compile_text, needs_compiler

_PROGRAM = """
#include <cstdio>
#include <cstdlib>
__global__ void hand_over(volatile int *data, int *ready, int *out) {
  if (blockIdx.x == 0) {
    *data = 42;
    FENCE();
    atomicExch(ready, 1);
  } else {
    while (atomicAdd(ready, 0) == 0);
    __threadfence();
    *out = *data;
    if (*out != 42 && IS_FATAL) out[1 << 20] = 1;
  }
}
int main(int count, char **arguments) {
  int *memory, out;
  cudaMalloc(&memory, 1024);
  cudaMemset(memory, 0, 1024);
  hand_over<<<2, 1>>>(memory, memory + 64, memory + 128);
  if (cudaMemcpy(&out, memory + 128, 4, cudaMemcpyDeviceToHost)) return 7;
  if (count > 1) { printf("handed over\\ngot %d\\n", out); return std::atoi(arguments[1]); }
  return out == 42 ? 0 : 3;
}
"""


def compiled(folder, fence="__threadfence_block", is_fatal="false"):
    return str(compile_text(_PROGRAM, folder, (f"FENCE={fence}", f"IS_FATAL={is_fatal}")))


_SETTINGS = RunSettings(capability=90, independent_threads=False)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("program"))


def first_failing(subject):
    return next((run for run in islice(random_runs(subject, "views", 1), 12) if run.failure), None)


@needs_compiler
def test_exit_status_shrinks_and_replays(program):
    subject = ProgramSubject([program], _SETTINGS)
    assert subject.compares_output
    assert subject.run("views", InOrder()).failure is None
    run = first_failing(subject)
    assert (run.failure, run.sentence) == (
        Failure.RESULT, "Exit status of the program must be 0, not 3",
    )  # fmt: skip
    shrunk = shrink(subject, "views", run)
    assert len(shrunk.deviations) == 1
    assert replay(subject, "views", shrunk.deviations) == shrunk


@needs_compiler
def test_output_and_faults(program, tmp_path):
    run = first_failing(ProgramSubject([program, "0"], _SETTINGS))
    assert run.sentence == "Line 2 of the output must be 'got 42', not 'got 0'"
    run = first_failing(ProgramSubject([compiled(tmp_path, is_fatal="true")], _SETTINGS))
    assert run.failure is Failure.FAULT
    assert "must be inside a buffer" in run.sentence


@needs_compiler
def test_a_program_that_does_not_end_hangs(program, monkeypatch):
    subject = ProgramSubject([program], _SETTINGS)
    monkeypatch.setattr(program_subject, "instruction_limit", lambda sequential: 1)
    run = subject.run("views", InOrder())
    assert run.failure is Failure.HANG
    assert "more than 1 warp instructions" in run.sentence


@needs_compiler
def test_a_right_program_does_not_fail(tmp_path):
    assert first_failing(ProgramSubject([compiled(tmp_path, "__threadfence")], _SETTINGS)) is None


@needs_compiler
def test_advice_names_lines_of_the_program(program):
    advice = Advisor(ProgramSubject([program], _SETTINGS), "views", 8, 4, 1).advise()
    (change,) = advice.changes
    assert (change.action, change.what) == ("widen", "fence.acq_rel.gpu")
    assert change.place.endswith(":7")


@needs_compiler
def test_a_program_that_is_wrong_anyway_is_refused(program):
    rule = "Program is wrong already in sequentially consistent memory.* must be 0, not 5"
    with pytest.raises(ValueError, match=rule):
        ProgramSubject([program, "5"], _SETTINGS)


_TWO_KERNELS = """
__global__ void plain(int *data) {
  data[threadIdx.x] = 1;
  __threadfence();
}
__global__ void locked(int *lock, volatile int *data) {
  while (atomicCAS(lock, 0, 1)) {}
  __threadfence();
  *data += 1;
  __threadfence();
  atomicExch(lock, 0);
}
int main() {
  int *memory;
  cudaMalloc(&memory, 1024);
  plain<<<1, 32>>>(memory);
  if (cudaDeviceSynchronize()) locked<<<2, 1>>>(memory, memory + 1);
  return 0;
}
"""


@needs_compiler
def test_fences_of_a_kernel_that_is_not_launched_stay(tmp_path):
    subject = ProgramSubject([str(compile_text(_TWO_KERNELS, tmp_path))], _SETTINGS)
    advice = Advisor(subject, "views", 4, 4, 1).advise()
    patch = make_patch(advice.changes, tmp_path, tmp_path)
    taken = [line for line in patch.text.splitlines() if line.startswith("-  ")]
    assert taken == ["-  __threadfence();"]
    assert [each.place.rpartition(":")[2] for each in advice.changes] == ["4"]
    assert [each.place.rpartition(":")[2] for each in advice.unexecuted] == ["8", "10"]


_PASSING = """
#include <cstdio>
__global__ void pass(volatile int *data, volatile int *ready, int *out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    *ready = 1;
  } else {
    out[0] = *ready;
    __threadfence();
    out[1] = *data;
  }
}
int main() {
  int *memory, out[2];
  cudaMalloc(&memory, 1024);
  cudaMemset(memory, 0, 1024);
  pass<<<2, 1>>>(memory, memory + 64, memory + 128);
  cudaMemcpy(out, memory + 128, sizeof out, cudaMemcpyDeviceToHost);
  printf("%d %d\\n", out[0], out[1]);
}
"""


@needs_compiler
def test_what_a_sequentially_consistent_run_prints_is_right(tmp_path, monkeypatch):
    """Though all that were made before print something else."""
    monkeypatch.setattr(program_subject, "_SEQUENTIAL_RUNS", 1)
    subject = ProgramSubject([str(compile_text(_PASSING, tmp_path))], _SETTINGS)
    assert find_witness(subject, "views", list(islice(random_runs(subject, "views", 1), 12))) == (
        [],
        None,
    )
    assert not subject.compares_output
