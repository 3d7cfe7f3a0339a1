"""Whole programs: what they get from the runtime library, and what is left of a run."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from itertools import product
from random import Random

import pytest

from racetrap.golden_model.events import EventKind
from racetrap.sim.gpu.cuda.connection import Connection
from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.program_run import ProgramError, run_program
from tests.support.campaign import one_in
from tests.support.gpu.cuda_programs import compile_text, needs_compiler, run_text

pytestmark = needs_compiler

_STORES = """
#include <cstdio>
#include <cassert>
__device__ int symbol = 3;
__global__ void store(int *data, int value) { data[threadIdx.x] = value; }
__global__ void reach(int *data, int count) { if (threadIdx.x == 5) data[count] = 1; }
__global__ void stop(int *data) { assert(data[threadIdx.x] == 7); }
template <int> __global__ void halt() { __trap(); }
__global__ void print(int number) {
  if (threadIdx.x == 1) printf("%d %5.2f|%-3s|%c%%\\n", number, 1.5f, "ab", 'x');
}
__global__ void add(int *data) { data[threadIdx.x] += symbol; }
"""


def test_memory_symbols_and_properties_of_the_device():
    run, output = run_text(
        _STORES
        + """
    int main() {
      int *data, *both, host[64], three = 0;
      size_t free_bytes, total;
      cudaDeviceProp device;
      cudaGetDeviceProperties(&device, 0);
      cudaMalloc(&data, sizeof host);
      cudaMallocManaged(&both, sizeof host);
      store<<<1, 64>>>(data, 7);
      cudaMemcpyFromSymbol(&three, symbol, sizeof three);
      three *= 2;
      cudaMemcpyToSymbol(symbol, &three, sizeof three);
      add<<<1, 64>>>(data);
      cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
      store<<<1, 64>>>(both, 9);
      cudaDeviceSynchronize();
      int blocks = 0;
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, store, 64, 0);
      cudaMemGetInfo(&free_bytes, &total);
      printf("%d %d %d %d %d %d\\n", host[0], host[63], both[63], device.multiProcessorCount,
             blocks, total - free_bytes >= 2 * sizeof host);
      return cudaFree(data) + cudaFree(both) + (cudaFree(host) != cudaErrorInvalidValue);
    }"""
    )
    assert (run.status, run.problems, output) == (0, (), "13 13 9 15 8 1\n")
    assert [launch.kernel for launch in run.launches] == [
        "_Z5storePii", "_Z3addPi", "_Z5storePii",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("launch", "name", "sentence"),
    one_in(2, [
        ("reach<<<1, 32>>>(data, 64)", "cudaErrorIllegalAddress",
         "program.cu:6: address of st.global.u32 must be inside a buffer"),
        ("halt<3><<<1, 32>>>()", "cudaErrorLaunchFailure",
         "Kernel reached trap (thread (0, 0, 0) of block (0, 0, 0), kernel halt<3>)"),
        ("reach<<<1, 32>>>((int *)((char *)data + 1), 0)", "cudaErrorMisalignedAddress",
         "must be a multiple of 4"),
        ("stop<<<1, 32>>>(data)", "cudaErrorAssert",
         "Assertion `data[threadIdx.x] == 7` failed"),
    ]),
)  # fmt: skip
def test_a_fault_reaches_the_program_and_leaves_the_trace(launch, name, sentence):
    run, output = run_text(
        _STORES
        + f"""
    int main() {{
      int *data;
      cudaMalloc(&data, 64 * sizeof(int));
      store<<<1, 64>>>(data, 1);
      {launch};
      puts(cudaGetErrorName(cudaDeviceSynchronize()));
      store<<<1, 64>>>(data, 1);
      puts(cudaGetErrorName(cudaGetLastError()));
    }}"""
    )
    assert output == f"{name}\n" * 2
    assert [bool(launch.fault) for launch in run.launches] == [False, True]
    assert sentence in run.launches[1].fault
    stores = [event for event in run.trace if event.kind == EventKind.STORE]
    assert len(stores) == 2  # of two warps, before the fault


def test_kernels_print():
    _, output = run_text(_STORES + "int main() { print<<<1, 32>>>(42); }")
    assert output == "42  1.50|ab |x%\n"


def test_a_program_that_closes_descriptors_keeps_the_executor():
    run, output = run_text(
        _STORES
        + """
    #include <fcntl.h>
    #include <unistd.h>
    int main() {
      int *data;
      cudaMalloc(&data, 128);
      for (int i = 3; i < 500; i++) close(i);
      for (int i = 3; i < 500; i++) open("/dev/null", O_RDWR);
      store<<<1, 32>>>(data, 1);
      puts(cudaGetErrorName(cudaDeviceSynchronize()));
    }"""
    )
    assert (run.status, output, len(run.launches)) == (0, "cudaSuccess\n", 1)


def test_a_function_that_is_missing_is_named():
    run, output = run_text(
        _STORES
        + """
    int main() {
      cudaArray_t array;
      cudaChannelFormatDesc form{};
      puts(cudaGetErrorName(cudaMallocArray(&array, &form, 4, 4)));
    }"""
    )
    assert output == "cudaErrorNotSupported\n"
    (problem,) = run.problems
    assert re.fullmatch(r"cudaMallocArray is not supported \(.*/program\.cu:\d+\)", problem)


def test_calls_have_lines_of_the_program():
    run, _ = run_text("""__global__ void store(int *data) { *data = 1; }
int main() {
  int *data;
  cudaMalloc(&data, 4);
  cudaMemset(data, 0, 4);
  store<<<1, 1>>>(data);
  return cudaDeviceSynchronize();
}""")
    places = {event.kind: run.trace.header.locations.get(event.pc, "") for event in run.trace}
    assert places[EventKind.COPY_WRITE].endswith("program.cu:5")
    assert places[EventKind.KERNEL_BEGIN].endswith("program.cu:6")
    assert places[EventKind.STORE].endswith("program.cu:1")


def test_only_selected_launches_are_traced(tmp_path):
    text = """
    int main() {
      int *data;
      cudaMalloc(&data, 256);
      for (int n = 0; n < 4; ++n) store<<<1, 32>>>(data, n);
      add<<<1, 32>>>(data);
      return cudaDeviceSynchronize();
    }"""
    program = compile_text(_STORES + text, tmp_path)
    for settings, traced in (
        ({"kernel": "add"}, [4]),
        ({"launches": range(1, 3)}, [1, 2]),
        ({"kernel": "store", "launches": range(3, 9)}, [3]),
    ):
        run = run_program([str(program)], RunSettings(**settings))
        assert [n for n, launch in enumerate(run.launches) if launch.traced] == traced
        kinds = [event.kind for event in run.trace]
        assert kinds.count(EventKind.KERNEL_BEGIN) == len(traced)


def test_a_program_without_cuda():
    with pytest.raises(ProgramError, match="no call of the CUDA runtime as a shared library"):
        run_program(["/bin/true"], RunSettings())


@pytest.mark.parametrize("status", one_in(2, [3, 0]))
def test_a_program_that_ends_before_its_first_cuda_call(tmp_path, status):
    text = f"""
    #include <cstdlib>
    int main() {{ if (getenv("X")) store<<<1, 32>>>(nullptr, 1); return {status}; }}"""
    program = compile_text(_STORES + text, tmp_path)
    run = run_program([str(program)], RunSettings())
    assert (run.status, run.launches, run.problems, len(run.trace)) == (status, (), (), 0)


def test_a_process_that_only_starts_another_is_no_user_of_cuda(tmp_path):
    """Linked with the library, too: the one that launches kernels counts."""
    text = """
    #include <unistd.h>
    int main(int count, char **words) {
      if (count == 1) return execl(words[0], words[0], "again", (char *)nullptr);
      int *data;
      cudaMalloc(&data, 128);
      return cudaFree(data);
    }"""
    run = run_program([str(compile_text(_STORES + text, tmp_path))], RunSettings())
    assert (run.status, run.problems) == (0, ())


@pytest.mark.parametrize("name", ["nothing", "text"])
def test_a_program_that_cannot_be_started(tmp_path, name):
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)
    with pytest.raises(ProgramError, match="cannot be started") as caught:
        run_program([str(tmp_path / name)], RunSettings())
    assert "Errno" not in str(caught.value)


def test_a_program_ends_by_a_signal():
    run, _ = run_text(
        _STORES
        + """
    #include <csignal>
    int main() { cudaFree(nullptr); std::raise(SIGTERM); }"""
    )
    assert run.status == -signal.SIGTERM


_WAITS = """
#include <cstdio>
#include <unistd.h>
int main() {
  cudaFree(nullptr);
  printf("%d\\n", getpid());
  fflush(stdout);
  for (;;) pause();
}"""
_RUNS = """
import sys
from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.program_run import run_program
run_program(sys.argv[1:], RunSettings())
"""


def _other_header(reply, random):
    reply[random.randrange(8)] ^= 1 << random.randrange(8)
    return reply


def _damaging(place, damage, random):
    """Connections whose reply number ``place`` is damaged, and the last."""

    class Damaging(Connection):
        replies = 0

        def reply(self, message, status, numbers=()):
            self.replies += 1
            if self.replies != place:
                super().reply(message, status, numbers)
                return
            reply = damage(bytearray(message.encode_reply(status, numbers)), random)
            socket.send_fds(self.socket, [reply], [self._file])
            self.socket.shutdown(socket.SHUT_WR)

    return Damaging


def test_a_damaged_reply_ends_the_program_with_one_error(tmp_path, monkeypatch, capfd):
    main = """int main() {
      int *data;
      cudaMalloc(&data, 128);
      store<<<1, 32>>>(data, 1);
      return cudaDeviceSynchronize();
    }"""
    program = compile_text(_STORES + main, tmp_path)
    ways = (
        _other_header,
        lambda reply, random: reply[: random.randrange(1, len(reply))],
        lambda reply, random: random.randbytes(random.randint(1, 100)),
    )
    for seed, (place, damage) in enumerate(product(range(1, 9), ways)):
        connection = _damaging(place, damage, Random(seed))
        monkeypatch.setattr("racetrap.sim.gpu.cuda.server.Connection", connection)
        run = run_program([str(program)], RunSettings())
        (sentence,) = capfd.readouterr().err.splitlines()
        assert (seed, run.status) == (seed, 97)
        assert sentence.startswith("racetrap: ")


def test_a_killed_executor_ends_the_program(tmp_path):
    program = compile_text(_WAITS, tmp_path)
    errors = tmp_path / "errors"
    with errors.open("wb") as stream:
        executor = subprocess.Popen(
            [sys.executable, "-c", _RUNS, str(program)], stdout=subprocess.PIPE, stderr=stream
        )
    process = int(executor.stdout.readline())
    executor.kill()
    executor.wait()
    executor.stdout.close()
    for _ in range(200):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            break
        time.sleep(0.05)
    else:
        os.kill(process, signal.SIGKILL)
        pytest.fail("The program outlives the executor")
    assert errors.read_text() == "racetrap: executor has ended before the program\n"
