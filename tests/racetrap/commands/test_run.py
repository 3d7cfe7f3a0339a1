"""`racetrap run`: from a CUDA program to findings and exit status."""

import json
import subprocess
import sys
from contextlib import suppress

import pytest

from racetrap.golden_model.trace import read_trace
from racetrap.sim.gpu import oracle
from racetrap.sim.gpu.executor.machine import event_log
from racetrap.sim.gpu.instrumented.cuda_driver import NoGpuError
from racetrap.sim.gpu.instrumented.gpu_process import GpuProcess
from racetrap.verdict.gpu.simulated_trace import SimulatedTrace
from tests.support.gpu.cuda_programs import compile_text, needs_compiler
from tests.support.gpu.cures.programs import FOLDER as CURES

_PROGRAM = """#include "size.h"
#include <cstdlib>
__global__ void add(int *sum) {
#ifdef RACE_FREE
  atomicAdd(sum, 1);
#else
  *sum += 1;
#endif
}
__global__ void reach(int *sum) { sum[1 << 20] = 1; }
int main(int count, char **arguments) {
  int *sum;
  cudaMalloc(&sum, 4);
  add<<<BLOCKS, 64>>>(sum);
  if (count > 2) reach<<<1, 1>>>(sum);
  cudaDeviceSynchronize();
  return count > 1 ? std::atoi(arguments[1]) : 0;
}
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "size.h").write_text("#define BLOCKS 300\n")
    (tmp_path / "program.cu").write_text(_PROGRAM)
    return "program.cu", "-I", "headers"


def test_machine_without_a_gpu_is_refused(racetrap, program):
    with suppress(NoGpuError):
        GpuProcess().close()
        pytest.skip("This machine has a GPU")
    result = racetrap("run", "--on-gpu", *program)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "libcuda" in result.stderr


@needs_compiler
def test_races_by_pair_of_lines(racetrap, program, tmp_path):
    forms = ("--json", "out.json", "--output", "out.trace")
    result = racetrap("run", *program, "--no-cures", *forms)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith("program.cu:7: race: ")
    assert len(lines) <= 20
    assert lines[1].startswith("  object: `sum`, allocated by the cudaMalloc at program.cu:")
    assert lines[3:5] == ["      *sum += 1;", "      ^"]
    document = json.loads((tmp_path / "out.json").read_text())
    ((race,),) = (finding["pairs"] for finding in document["findings"])
    assert race["earlier"]["place"] == race["later"]["place"] == "program.cu:7"
    assert race["instances"] > 900
    assert sum(race["kinds"].values()) == sum(race["classes"].values()) == race["instances"]
    assert len(read_trace(tmp_path / "out.trace")) == document["events"][0]


@needs_compiler
def test_a_fault_has_its_place_from_the_current_folder(racetrap, program):
    result = racetrap("run", *program, "-D", "RACE_FREE", "--", "0", "fault")
    assert result.exit_code == 1
    assert result.stdout.startswith("program.cu:10: fault: address of st.global.u32 must be")
    rest = "0 of 1 blocks had ended, and later launches"
    assert f"kernel reach); not judged: the rest of this launch, of which {rest}" in result.stdout


@needs_compiler
def test_what_comes_behind_a_load_from_outside_is_judged(racetrap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cu").write_text(
        "__global__ void k(int *a) {\n  a[threadIdx.x] = a[1 << 20];\n  a[0] = threadIdx.x;\n}\n"
        "int main() { int *a; cudaMalloc(&a, 256); k<<<1, 64>>>(a);\n"
        "  return cudaDeviceSynchronize(); }\n"
    )
    result = racetrap("run", "k.cu", "--schedules", 1, "--json", "out.json", "-o", "out.trace")
    assert result.exit_code == 1
    document = json.loads((tmp_path / "out.json").read_text())
    (outside,) = document["outside"]
    _, _, said = outside.partition("k.cu:2: ")
    assert said.startswith("address of ld.global.u32 must be inside a buffer, not 0x")
    assert said.endswith("kernel k); it gets 0")
    assert f"k.cu:2: fault: {said} [RT406]\n" in result.stdout
    assert (document["faults"], document["status"]) == ([], 0)
    assert "k.cu:3: race: " in result.stdout
    stored = racetrap("check", "out.trace")
    assert (stored.exit_code, "[RT406]" in stored.stdout) == (1, True)


@needs_compiler
def test_a_run_that_is_not_kept_has_the_same_findings(racetrap, program, monkeypatch):
    """Its events go to the judge; what the findings say of threads comes from a second run."""
    kept = racetrap("run", *program, "--no-cures", "--notes")
    monkeypatch.setattr(event_log, "MOST_KEPT", 1000)
    made = []
    judge = oracle.RunningJudge
    monkeypatch.setattr(oracle, "RunningJudge", lambda *each: made.append(each) or judge(*each))
    judged = racetrap("run", *program, "--no-cures", "--notes")
    assert judged.stdout == kept.stdout
    assert judged.exit_code == kept.exit_code == 1
    assert "no release of this scope follows" in kept.stdout
    assert len(made) == 3


@needs_compiler
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "must be inside a buffer"),
        (("--set", "instruction_limit=1000"), "more than 1000 warp instructions"),
        (("--set", "event_limit=700"), "more than 700 events"),
    ],
)
def test_a_stored_trace_of_a_program_has_its_fault(racetrap, program, options, said):
    """Checked are whole programs with the limits that stop them; the trace is judged alike."""
    ran = racetrap(
        "run", *program, "-D", "RACE_FREE", *options, "--output", "out.trace", "--", "0", "fault"
    )
    stored = racetrap("check", "out.trace")
    assert (ran.exit_code, stored.exit_code) == (1, 1)
    (fault, *_), (again, *_) = (
        [line for line in result.stdout.splitlines() if said in line] for result in (ran, stored)
    )
    assert fault == again
    assert "up to the fault" in ran.stdout
    assert "up to the fault" in stored.stdout


@needs_compiler
def test_a_timed_loop_of_a_program_ends(racetrap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "timed.cu").write_text(
        "__global__ void wait() { for (auto t = clock64(); clock64() - t < 1000000;); }\n"
        "int main() { wait<<<1, 32>>>(); return cudaDeviceSynchronize(); }\n"
    )
    result = racetrap("run", "timed.cu")
    assert (result.exit_code, "fault:" in result.stdout) == (0, False), result.stdout


@needs_compiler
def test_pairs_that_only_lockstep_orders(racetrap, tmp_path):
    text = """__global__ void swap(int *data) {
      data[threadIdx.x] = threadIdx.x;
      asm volatile("" ::: "memory");
      data[32 + threadIdx.x] = data[threadIdx.x ^ 1];
    }
    int main() { int *data; cudaMalloc(&data, 256); swap<<<1, 32>>>(data); cudaFree(data); }"""
    program = str(compile_text(text, tmp_path))
    result = racetrap("run", program, "--lockstep", "--notes", "--json", str(tmp_path / "o.json"))
    document = json.loads((tmp_path / "o.json").read_text())
    assert (result.exit_code, document["findings"]) == (0, [])
    (pair,) = document["ordered_by_lockstep"]
    assert (pair["earlier"]["kind"], pair["later"]["kind"]) == ("store", "load")
    assert result.stdout.startswith("Lockstep: ")
    assert "without it, 1 more pair of source lines would race" in result.stdout
    assert result.stdout.count("only lockstep orders these: ") == 1
    (quiet, clean) = racetrap("run", program, "--lockstep").stdout.splitlines()
    assert (quiet.split()[0], clean.split()[:2]) == ("Lockstep:", ["Races:", "none"])
    assert document["unordered_strong"] == []


_WARP = """__global__ void sum(int *in, int *out) {
  __shared__ int s[32];
  s[threadIdx.x] = in[threadIdx.x];
  FIRST;
  for (int d = 16; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    LATER;
  }
  if (threadIdx.x == 0) *out = s[0];
}
int main() {
  int *data;
  cudaMalloc(&data, 256);
  sum<<<1, 32>>>(data, data + 32);
  return cudaDeviceSynchronize();
}
"""


@needs_compiler
@pytest.mark.parametrize(
    ("first", "later", "status"),
    [("", "", 1), ("__syncwarp()", "", 1), ("__syncwarp()", "__syncwarp()", 0)],
)
def test_a_reduction_of_a_warp(racetrap, tmp_path, monkeypatch, first, later, status):
    """Lanes run independently: what a missing `__syncwarp` leaves unordered is a race in every form
    of output, and a finding that a baseline knows."""
    monkeypatch.chdir(tmp_path)
    program = compile_text(_WARP.replace("FIRST", first).replace("LATER", later), tmp_path)
    forms = ["out.html", "out.sarif", "out.xml", "out.toml"]
    outputs = [word for name in forms for word in ("--output", name)]
    result = racetrap("run", program, *outputs, "--output", "-.github", "--json", "out.json")
    assert result.exit_code == status
    document = json.loads((tmp_path / "out.json").read_text())
    pairs = [pair for finding in document["findings"] for pair in finding["pairs"]]
    races = [pair for pair in pairs if "divergence" in pair["classes"]]
    assert (bool(races), document["independent_threads"]) == (bool(status), True)
    if not status:
        assert result.stderr.startswith("Races: none")
        assert len(result.stderr.splitlines()) == 1
        return
    assert "program.cu:6: race: load races with store" in result.stderr
    assert "::error file=program.cu,line=6," in result.stdout
    for name in forms[:3]:
        assert "load races with store at program.cu:" in (tmp_path / name).read_text(), name
    assert racetrap("run", program, "--baseline", "out.toml").exit_code == 0


@needs_compiler
def test_a_lock_that_each_lane_takes_by_itself_ends(racetrap, tmp_path):
    lock = compile_text((CURES / "right" / "lane_locks.cu").read_text(), tmp_path)
    result = racetrap("run", lock)
    assert (result.exit_code, result.stdout.count("\n")) == (0, 1), result.stdout
    result = racetrap("run", lock, "--lockstep")
    assert (result.exit_code, "polls what none changes" in result.stdout) == (1, True)


@needs_compiler
def test_budget_of_schedules(racetrap, tmp_path):
    path = compile_text(_WARP.replace("FIRST", "").replace("LATER", ""), tmp_path)
    for budget, count, said in (
        ("2", 2, "2 schedules of at most 2 in 60 s."), ("0.001s", 1, "their 0.001 s were over."),
        ("9", 3, "3 schedules of at most 9 in 60 s; the last 2 added nothing."),
    ):  # fmt: skip
        result = racetrap("run", path, "--budget", budget, "--json", "-")
        assert json.loads(result.stdout)["schedules"] == count
        assert said in result.stderr


@needs_compiler
def test_statuses(racetrap, tmp_path):
    text = _PROGRAM.replace('#include "size.h"', "#define BLOCKS 2")
    race_free = compile_text(text, tmp_path, ("RACE_FREE",))
    result = racetrap("run", race_free)
    assert (result.exit_code, "Races: none" in result.stdout) == (0, True)
    result = racetrap("run", race_free, "--", "5")
    assert (result.exit_code, "Program: ended with exit status 5." in result.stdout) == (3, True)
    result = racetrap("run", race_free, "--", "0", "fault")
    assert (result.exit_code, "fault: " in result.stdout) == (1, True)
    result = racetrap("run", race_free, "--launches", "0:1", "--", "0", "fault")
    assert result.stdout.startswith("Not checked: ")
    result = racetrap("run", race_free, "--launches", "other")
    assert result.exit_code == 2
    assert "Unknown kernel 'other': choose add" in result.stderr


@needs_compiler
def test_schedules_of_a_program_that_was_built_before(racetrap, tmp_path):
    text = _PROGRAM.replace('#include "size.h"', "#define BLOCKS 2")
    path = compile_text(text, tmp_path)
    result = racetrap("run", path, "--schedules", "3", "--json", "-", "--", "0")
    document = json.loads(result.stdout)
    ((race,),) = (finding["pairs"] for finding in document["findings"])
    assert (race["schedules"], len(document["events"])) == ([0, 1, 2], 3)
    assert "in 3 of 3 schedules" in result.stderr


@needs_compiler
def test_known_races_do_not_count(racetrap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = compile_text(_PROGRAM.replace('#include "size.h"', "#define BLOCKS 2"), tmp_path)
    files = ["--output", "out.sarif", "--output", "out.xml", "--output", "-.github"]
    result = racetrap("run", path, "--output", "known.toml", *files)
    assert result.exit_code == 1
    # The first of its races is that of two warps of a block.
    assert "::error file=program.cu,line=7,col=3,title=RT103::" in result.stdout
    document = json.loads((tmp_path / "out.sarif").read_text())
    assert len(document["runs"][0]["results"]) == 1
    assert 'failures="1"' in (tmp_path / "out.xml").read_text()
    result = racetrap("run", path, "--baseline", "known.toml")
    assert (result.exit_code, "Known: 1 pair of source lines" in result.stdout) == (0, True)
    result = racetrap("run", path, "--output", "known.toml")
    assert result.exit_code == 2
    assert "Baseline must be a new file, not known.toml" in result.stderr


@needs_compiler
def test_a_program_that_does_not_compile(racetrap, program):
    result = racetrap("run", program[0])
    assert result.exit_code == 2
    assert "CUDA program program.cu does not compile" in result.stderr
    assert "size.h" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing.cu"], "Program must be a file, not nothing.cu"),
        (["size.h", "-D", "X"], "Option -D is for a CUDA source, not for a program that is built"),
        (["size.h", "-arch=sm_60"], "Architecture must be from sm_75 to sm_121"),
        (["program.cu", "-stdd=c++17"], "No such option '-stdd'. (Did you mean one of: '--std'"),
        (["program.cu", "-ccc"], "Option -c of nvcc chooses what a build makes or keeps"),
        (["program.cu", "--launches", "3"], "Launches must be A:B with A below B, not 3"),
        (
            ["program.cu", "--detector", "sigrace"],
            "preset of sigrace does not read",
        ),
        (["program.cu", "--launches", "0%"], "Launches must be A:B with A below B, not 0%"),
        (["program.cu", "--launches", "3:3"], "Launches must be A:B with A below B, not 3:3"),
    ],
)
def test_bad_input(racetrap, program, tmp_path, arguments, sentence):
    (tmp_path / "size.h").touch()
    result = racetrap("run", *arguments)
    assert (result.exit_code, sentence in result.stderr) == (2, True)


def test_imports_are_few():
    code = (
        "import sys, racetrap.commands.run\n"
        "before = 'numpy' in sys.modules\n"
        "import racetrap.verdict.gpu.program_check\n"
        "seldom = ('amaranth', 'jinja2', 'networkx', 'pydantic', "
        "'racetrap.golden_model.ptx_memory_model.litmus')\n"
        "print(before, [name for name in seldom if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False []\n"


def test_without_the_compiler(racetrap, program, monkeypatch):
    monkeypatch.setattr("racetrap.sim.gpu.cuda.toolkit._PACKAGE", "nvidia_that_is_missing")
    result = racetrap("run", program[0])
    assert result.exit_code == 3
    assert "install the extra `cuda` by `" in result.stderr


@needs_compiler
def test_detector_beside_the_exact_verdict_and_alone(racetrap, tmp_path):
    """Lanes of one warp: the detector takes a warp for one thread."""
    text = _PROGRAM.replace('#include "size.h"', "#define BLOCKS 1").replace("64>>>", "32>>>")
    text = text.replace("*sum += 1;", "*sum += threadIdx.x;")
    path = compile_text(text, tmp_path)
    result = racetrap("run", path, "--detector", "scord", "--json", "-")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert (document["detector"]["preset"], document["rule"]) == ("scord", "causality")
    ((finding,),) = (each["pairs"] for each in document["findings"])
    assert list(finding["outcomes"]) == ["inside a warp"]
    assert "Detector scord: 0 of " in result.stderr
    result = racetrap("run", path, "--oracle", "none")
    assert result.exit_code == 0
    assert "(the detector's verdict)" in result.stdout
    assert "Detector scord-nocache did not check 0 of " in result.stdout


@needs_compiler
def test_hardware_is_built_for_the_lanes_of_the_run(racetrap, tmp_path, monkeypatch):
    path = compile_text(_PROGRAM.replace('#include "size.h"', "#define BLOCKS 2"), tmp_path)
    built = []

    def build_fast(preset, params):
        built.append(params.independent_threads)

    def simulate_trace(model, trace, seed, found):
        built.append(bool(trace.header.independent_threads))
        return SimulatedTrace(steps=10, cycles=70, left_out=None)

    monkeypatch.setattr("racetrap.sim.cosim.fast.build.build_fast", build_fast)
    monkeypatch.setattr("racetrap.verdict.causality.hardware.simulate_trace", simulate_trace)
    simulated = ("--simulate", "--schedules", 1, "--detector", "causality")
    for lanes in ([], ["--lockstep"]):
        result = racetrap("run", path, *simulated, *lanes)
        assert result.exit_code == 1, result.output
    assert built == [True, True, False, False]


@needs_compiler
def test_hardware_takes_the_traces(racetrap, tmp_path, monkeypatch):
    """The co-simulation has its own tests; here it is called once for each schedule."""
    path = compile_text(_PROGRAM.replace('#include "size.h"', "#define BLOCKS 2"), tmp_path)
    taken = []

    def simulate_trace(model, trace, seed, found):
        taken.append((model, len(trace)))
        return SimulatedTrace(steps=10, cycles=70, left_out=None)

    monkeypatch.setattr("racetrap.sim.cosim.fast.build.build_fast", lambda preset, params: preset)
    monkeypatch.setattr("racetrap.verdict.scord.hardware.simulate_trace", simulate_trace)
    result = racetrap("run", path, "--simulate", "--schedules", 2)
    assert result.exit_code == 1
    assert [model for model, _ in taken] == ["scord-nocache"] * 2
    assert "Hardware scord-nocache: it agrees with the golden model in all 20 steps (140" in (
        result.stdout
    )
