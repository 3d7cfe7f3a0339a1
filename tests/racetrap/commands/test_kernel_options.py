"""From kernel files to traces and races: `racetrap trace capture` and `racetrap check KERNEL`."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace import is_binary, read_trace
from racetrap.sim.gpu.launch.nvrtc import compile_cuda, has_nvrtc
from tests.support import REPOSITORY
from tests.support.gpu.cuda_programs import needs_compiler

_EXAMPLES = REPOSITORY / "docs" / "examples"
_LAUNCH = _EXAMPLES / "handover.toml"
_NEEDS_NVRTC = pytest.mark.skipif(not has_nvrtc(), reason="needs the optional extra cuda")


@pytest.fixture(params=["handover.ptx", pytest.param("handover.cu", marks=_NEEDS_NVRTC)])
def kernel(request) -> Path:
    return _EXAMPLES / request.param


def _without_cures(kernel):
    """Of PTX there are none."""
    return ["--no-cures"] if kernel.suffix == ".cu" else []


@pytest.fixture
def edited(tmp_path):
    """Copies the example, with changes of the PTX and of the launch file."""

    def _edited(ptx=(), launch=()):
        for name, changes in (("handover.ptx", ptx), ("handover.toml", launch)):
            text = (_EXAMPLES / name).read_text()
            for old, new in changes:
                assert old in text
                text = text.replace(old, new)
            (tmp_path / name).write_text(text)
        return tmp_path / "handover.ptx", tmp_path / "handover.toml"

    return _edited


@pytest.fixture
def once(tmp_path):
    """The launch file of the example, for one schedule."""
    path = tmp_path / "once.toml"
    path.write_text("schedules = 1\n" + _LAUNCH.read_text())
    return path


def test_exact_check_shows_the_lines(racetrap, kernel, monkeypatch):
    monkeypatch.chdir(_EXAMPLES)
    options = (kernel, "--launch", _LAUNCH, *_without_cures(kernel))
    result = racetrap("check", *options)
    assert result.exit_code == 1
    assert result.stdout.startswith("handover.cu:12: race: load races with store at handover.cu:6:")
    assert "            *data = value;\n            ^\n" in result.stdout
    document = json.loads(racetrap("check", *options, "--json", "-").stdout)
    assert [
        document["findings"][0]["pairs"][0][name]["column"] for name in ("earlier", "later")
    ] == [9, 27]  # of `*data` in both lines; PTX has 9, of the statements


_CALLS = """\
__device__ __forceinline__ void bump(int *p) {
    *p += 1;
}
__device__ void twice(int *p) { bump(p); bump(p + 1); }
__device__ __noinline__ void store(int *p) { *p = threadIdx.x; }
__global__ void handover(int *a, int *, int *, int) {
    twice(a);
    store(a);
}
"""


@_NEEDS_NVRTC
def test_a_stored_trace_shows_columns_and_call_paths_as_its_kernel_does(
    racetrap, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("calls.cu").write_text(_CALLS)
    launch = Path(shutil.copy(_LAUNCH, tmp_path))
    launch.write_text("schedules = 1\n" + launch.read_text().replace("count = 1", "count = 4"))
    shown = racetrap("check", "calls.cu", "--launch", launch, "--no-cures").stdout
    assert "    in store, called at calls.cu:8 in handover\n" in shown
    assert "    in bump, called at calls.cu:4 in twice, called at calls.cu:7 in handover\n" in shown
    assert "        *p += 1;\n        ^\n" in shown
    racetrap("trace", "capture", "calls.cu", "--launch", launch, "-o", "calls.trace")
    racetrap("trace", "convert", "calls.trace", "calls.txt")
    for stored in ("calls.trace", "calls.txt"):
        assert racetrap("check", stored).stdout == shown


def test_check_names_the_lines(racetrap, kernel):
    result = racetrap("check", kernel, "--launch", _LAUNCH, "--oracle", "none")
    assert result.exit_code == 1
    assert "Race 0: missing-device-fence, device scope, Table IV (b)" in result.stdout
    assert "races with the store of grid block 0 warp 0 at handover.cu:6: " in result.stdout
    assert "The load of grid block 1 warp 0 at handover.cu:12 races" in result.stdout


def test_check_with_the_right_fence(racetrap, edited):
    ptx, launch = edited(ptx=[("membar.cta", "membar.gl")])
    result = racetrap("check", ptx, "--launch", launch)
    assert result.exit_code == 0, result.stdout
    result = racetrap("check", ptx, "--launch", launch, "--oracle", "none")
    assert result.exit_code == 0, result.stdout


def test_lockstep_is_the_first_line(racetrap, kernel, edited, tmp_path):
    """By the option, or by the launch file; the trace of a run says the same."""
    _, launch = edited(launch=[("block = 64", "block = 64\nindependent_threads = false")])
    no_cures = _without_cures(kernel)
    for options in (["--launch", _LAUNCH, "--lockstep"], ["--launch", launch]):
        first, *_ = racetrap("check", kernel, *options, *no_cures).stdout.splitlines()
        assert first.startswith("Lockstep: the lanes of a warp ran together"), first
    trace = str(tmp_path / "lockstep.trace")
    racetrap("trace", "capture", kernel, *options[:2], "--lockstep", "-o", trace)
    assert racetrap("check", trace).stdout.startswith(first)
    assert "Lockstep" not in racetrap("check", kernel, "--launch", _LAUNCH, *no_cures).stdout


def test_check_as_json(racetrap, kernel, once):
    result = racetrap("check", kernel, "--launch", once, "--oracle", "none", "--json", "-")
    data = json.loads(result.stdout)
    assert (data["trace"], data["launch"]) == (str(kernel), str(once))
    assert data["run"]["blocks"] == 2
    assert data["run"]["thread_instructions"] > data["run"]["warp_instructions"] > 0
    (race,) = data["races"]
    assert race["access"]["location"] == "handover.cu:12"


def test_capture_and_check_say_the_same(racetrap, kernel, once, tmp_path):
    target = tmp_path / "handover.trace"
    result = racetrap("trace", "capture", kernel, "--launch", _LAUNCH, "-o", target)
    assert result.exit_code == 0
    trace = read_trace(target)
    assert f"{target}: {len(trace)} events of 2 blocks, " in result.stdout
    assert is_binary(target)
    run = racetrap("check", kernel, "--launch", once, "--oracle", "none")
    stored = racetrap("check", target, "--oracle", "none")
    assert (run.exit_code, run.stdout) == (stored.exit_code, stored.stdout)


def test_captured_trace(racetrap, tmp_path):
    """One thread of each block goes on; block 1 reads what block 0 wrote."""
    target = tmp_path / "handover.txt"
    racetrap(
        "trace", "capture", _EXAMPLES / "handover.ptx", "--launch", _LAUNCH, "-o", target,
    )  # fmt: skip
    assert target.read_text().startswith("racetrap-trace ")
    trace = read_trace(target)
    assert trace.header.source == "handover.ptx handover"
    assert set(trace.header.locations.values()) >= {f"handover.cu:{n}" for n in (6, 7, 8, 12)}
    stores = [event for event in trace if event.kind == EventKind.STORE]
    assert [event.lanes[0].value for event in stores] == [42, 42]
    for event in stores:
        assert len(event.lanes) == 1


def test_capture_as_json_with_dumps(racetrap, kernel, tmp_path):
    target, out, ready = (tmp_path / name for name in ("t", "out.npy", "ready.npy"))
    result = racetrap(
        "trace", "capture", kernel, "--launch", _LAUNCH, "-o", target, "--json", "-",
        "--dump", f"2={out}", "--dump", f"1={ready}",
    )  # fmt: skip
    data = json.loads(result.stdout)
    assert (data["kernel"], data["trace"], data["blocks"]) == (str(kernel), str(target), 2)
    assert data["events"] == len(read_trace(target))
    assert data["kinds"]["store"] == 2
    assert (np.load(out).tolist(), np.load(ready).tolist()) == ([0, 42], [1])


@pytest.mark.parametrize("scheduler", ["in-order", "round-robin", "greedy-then-oldest", "random"])
@pytest.mark.parametrize("independent", ["true", "false"])
def test_every_scheduler(racetrap, edited, scheduler, independent):
    """The reader spins before the writer has come, if the scheduler has it so."""
    ptx, launch = edited(
        launch=[
            (
                "block = 64",
                f'block = 64\nscheduler = "{scheduler}"\nindependent_threads = {independent}',
            )
        ]
    )
    result = racetrap("check", ptx, "--launch", launch)
    assert result.exit_code == 1
    assert "handover.cu:12: race: load races with store at " in result.stdout


@pytest.mark.parametrize(
    ("ptx", "launch", "sentence"),
    [
        ([], [('"handover"', '"hand"')], "kernel must be one of handover, not hand."),
        ([], [("count = 2", "count = 0")], "arguments[2].count must be "),
        ([("membar.cta", "membar.nowhere")], [], "handover.ptx:"),
        ([("membar.cta", "frobnicate.cta")], [], "frobnicate.cta"),
        ([("%tid.x", "%r99")], [], "Register %r99 is not declared"),
    ],
)
def test_what_cannot_be_run(racetrap, edited, tmp_path, ptx, launch, sentence):
    kernel, launch_file = edited(ptx, launch)
    for arguments in (["check"], ["trace", "capture", "-o", tmp_path / "never"]):
        result = racetrap(*arguments, kernel, "--launch", launch_file)
        assert result.exit_code == 2
        assert sentence in result.stderr
        assert result.stdout == ""
    assert not (tmp_path / "never").exists()


def test_kernel_that_never_ends(racetrap, edited):
    kernel, launch = edited(
        ptx=[("exch.b32 \t%r6, [%rd2], 1", "exch.b32 \t%r6, [%rd2], 0")],
        launch=[("block = 64", "block = 64\nstall_limit = 10000")],
    )
    result = racetrap("check", kernel, "--launch", launch)
    assert result.exit_code == 1
    assert "handover.cu:10" in result.stdout.partition("Fault: ")[2]


def test_fault_and_the_races_before_it(racetrap, edited, tmp_path):
    outside = [("[%rd8], %r5", "[%rd8+4096], %r5")]
    kernel, launch = edited(ptx=outside)
    result = racetrap("check", kernel, "--launch", launch, "--json", "-")
    document = json.loads(result.stdout)
    assert (len(document["faults"]), document["findings"][0]["instances"]) == (1, 3)
    kernel, launch = edited(ptx=outside, launch=[("block = 64", "block = 64\nschedules = 1")])
    result = racetrap("check", kernel, "--launch", launch, "--json", "-")
    assert result.exit_code == 1
    assert (
        "handover.cu:12: fault: address of st.global.u32 must be inside a buffer" in result.stderr
    )
    document = json.loads(result.stdout)
    assert (len(document["findings"]), len(document["faults"])) == (1, 1)
    result = racetrap("check", kernel, "--launch", launch, "--oracle", "none")
    assert (result.exit_code, "handover.cu:12: fault: " in result.stdout) == (1, True)
    target = tmp_path / "until.trace"
    result = racetrap("trace", "capture", kernel, "--launch", launch, "-o", target, "--json", "-")
    assert result.exit_code == 1
    assert "handover.cu:12" in result.stderr
    assert json.loads(result.stdout)["fault"].startswith("handover.cu:12: address")
    assert EventKind.STORE in {event.kind for event in read_trace(target)}
    stored = json.loads(racetrap("check", target, "--json", "-").stdout)
    assert stored["findings"] == document["findings"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["check", "k.ptx"], "Kernel must have a launch file, as --launch FILE or as k.toml."),
        (["check", "k.c", "--launch", _LAUNCH], "Kernel file must end in .cu or .ptx, not k.c."),
        (["check", "none.ptx", "--launch", _LAUNCH], "none.ptx: No such file or directory."),
        (["check", "k.ptx", "--launch", "none.toml"], "none.toml: No such file or directory."),
        (["trace", "capture", "k.ptx", "-o", "t"], "Missing option '--launch'"),
        (["trace", "capture", "k.ptx", "-o", "t", "--launch", _LAUNCH, "--dump", "x"],
         "Dump must be BUFFER=FILE, not x."),
        (["trace", "capture", _EXAMPLES / "handover.ptx", "-o", "t", "--launch", _LAUNCH,
          "--dump", "3=y.npy"],
         "Dump must be of a buffer (0, 1, 2), not of 3."),
    ],
)  # fmt: skip
def test_bad_usage(racetrap, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    result = racetrap(*arguments)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert list(tmp_path.iterdir()) == []


@_NEEDS_NVRTC
def test_header_beside_the_source(racetrap, tmp_path):
    source = (_EXAMPLES / "handover.cu").read_text()
    (tmp_path / "kernel.cu").write_text('#include "constants.h"\n' + source.replace("0)", "ZERO)"))
    (tmp_path / "constants.h").write_text("#define ZERO 0\n")
    shutil.copy(_LAUNCH, tmp_path)
    result = racetrap("check", tmp_path / "kernel.cu", "--launch", tmp_path / "handover.toml")
    assert result.exit_code == 1
    assert "kernel.cu:7" in result.stdout


@_NEEDS_NVRTC
def test_source_that_does_not_compile(racetrap, tmp_path):
    source = (_EXAMPLES / "handover.cu").read_text()
    (tmp_path / "kernel.cu").write_text(source.replace("threadIdx", "treadIdx"))
    result = racetrap("check", tmp_path / "kernel.cu", "--launch", _LAUNCH)
    assert result.exit_code == 2
    assert "CUDA source kernel.cu does not compile:" in result.stderr
    assert 'identifier "treadIdx" is undefined' in result.stderr


@_NEEDS_NVRTC
def test_kept_ptx_is_that_of_the_source():
    source = (_EXAMPLES / "handover.cu").read_text()
    assert compile_cuda(source, "handover.cu") == (_EXAMPLES / "handover.ptx").read_text()


def test_a_command_loads_the_executor_only_for_a_kernel():
    code = (
        "import sys, racetrap.commands.check, racetrap.commands.trace\n"
        "print([name for name in ('lark', 'networkx', 'pydantic') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_report_in_the_manual(racetrap, monkeypatch):
    """What docs/kernels.md shows is what the command prints."""
    manual = (_EXAMPLES.parent / "kernels.md").read_text()
    monkeypatch.chdir(REPOSITORY)
    kernel = ["docs/examples/handover.ptx", "--launch", _LAUNCH]
    for options in ([], ["--notes"], ["--oracle", "none"]):
        result = racetrap("check", *kernel, *options)
        for line in filter(None, result.stdout.partition("Races by kind")[0].splitlines()):
            assert line in manual


_CHAIN = """struct Task { int factor; const int *in; int *out; };
extern "C" __global__ void scale(Task task) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  task.out[i] = task.factor * task.in[i];
}
extern "C" __global__ void sum(const int *in, int *total, int count) {
#ifdef RACY
  if (threadIdx.x < count) *total += in[threadIdx.x];
#else
  if (threadIdx.x < count) atomicAdd(total, in[threadIdx.x]);
#endif
}
"""
_CHAIN_LAUNCH = """kernel = "scale"
grid = 2
block = 32
schedules = 3
arguments = [{ members = [{ type = "s32", value = 3 }, { pointer = "in" }, { pointer = "out" }] }]
[[buffers]]
name = "in"
buffer = "arange"
type = "s32"
count = 64
[[buffers]]
name = "out"
buffer = "zeros"
type = "s32"
count = 64
[[next]]
kernel = "sum"
grid = 1
block = 64
arguments = [
  { pointer = "out", offset = 128 },
  { buffer = "zeros", type = "s32", count = 1, expected = [4560] },
  { type = "s32", value = 32 },
]
"""


@needs_compiler
def test_two_launches_over_the_same_buffers(racetrap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chain.cu").write_text(_CHAIN)
    (tmp_path / "chain.toml").write_text(_CHAIN_LAUNCH)
    chain = ["chain.cu", "--launch", "chain.toml"]
    result = racetrap("check", *chain)
    assert result.exit_code == 0, result.stdout
    assert "events in 3 schedules" in result.stdout
    result = racetrap("check", *chain, "-D", "RACY", "--json", "out.json", "--output", "out.xml")
    assert result.exit_code == 1
    assert result.stdout.startswith("chain.cu:8: race: ")
    assert "in 3 of 3 schedules" in result.stdout
    document = json.loads((tmp_path / "out.json").read_text())
    ((finding,),) = (each["pairs"] for each in document["findings"])
    assert (finding["launch"], finding["schedules"]) == (1, [0, 1, 2])
    assert "Result: Buffer 2 must have 4560 at element 0, not" in result.stdout
    assert len(document["results"]) == 1
    assert 'failures="2"' in (tmp_path / "out.xml").read_text()
    result = racetrap("trace", "capture", *chain, "-o", "t", "--dump", "out=out.npy")
    assert result.exit_code == 0
    assert np.load("out.npy").tolist() == [3 * number for number in range(64)]


_TEMPLATE = """#include <cstdio>
#include <cooperative_groups.h>
#include <cuda/atomic>
#include "scale.h"
template <int N> __global__ void count(int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> sum(out[0]);
  if (cooperative_groups::this_thread_block().thread_rank() == 0) sum.fetch_add(N * SCALE);
}
int main() {
  count<3><<<2, 64>>>(nullptr);
  count<4><<<2, 64>>>(nullptr);
  std::printf("host code\\n");
}
"""


@needs_compiler
def test_a_template_of_a_file_with_host_code(racetrap, tmp_path):
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "scale.h").write_text("#define SCALE FACTOR\n")
    (tmp_path / "count.cu").write_text(_TEMPLATE)
    launch = tmp_path / "launch.toml"
    launch.write_text(
        'kernel = "count<3>"\ngrid = 5\nblock = 64\n'
        'arguments = [{ buffer = "zeros", type = "s32", count = 1 }]\n'
    )
    options = ["-I", tmp_path / "headers", "-D", "FACTOR=7", "--arch", "80", "--std", "c++20"]
    result = racetrap(
        "trace", "capture", tmp_path / "count.cu", "--launch", launch, *options,
        "-o", tmp_path / "out.trace", "--dump", f"0={tmp_path / 'out.npy'}",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert np.load(tmp_path / "out.npy").tolist() == [5 * 3 * 7]
    assert racetrap("check", tmp_path / "count.cu", "--launch", launch, *options).exit_code == 0


def test_options_of_the_compiler_without_a_source(racetrap, tmp_path, racy):
    for arguments in ([_EXAMPLES / "handover.ptx", "--launch", _LAUNCH], [racy]):
        result = racetrap("check", *arguments, "-D", "X")
        assert result.exit_code == 2
        assert " is for a kernel in CUDA, not for " in result.stderr
