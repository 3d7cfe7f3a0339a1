"""The simulate command: verdicts, exit status, files."""

import functools
import json
import xml.etree.ElementTree as ElementTree

import pytest
from click.testing import CliRunner

from racetrap.commands import simulate
from racetrap.commands import testbench_run as bench_run
from racetrap.golden_model.events import (
    DataRegion,
    Event,
    EventKind,
    Geometry,
    Lane,
    Scope,
    TraceHeader,
)
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.scord.verdicts import Verdict, write_junit
from racetrap.sim.cosim.verilator.cocotb_build import Patch
from racetrap.sim.cosim.verilator.cocotb_run import SimulationError

_BASE = 0x10000


def _trace(path, *, fenced, sm_count=2):
    """A store and a load of another block; with a device fence between them there is no race."""
    access = {"strong": True, "size": 4, "lanes": (Lane(0, _BASE),)}
    events = [
        Event(EventKind.KERNEL_BEGIN),
        Event(EventKind.BLOCK_PLACED, 0, 0, 0, warp_count=1, grid_block=0),
        Event(EventKind.BLOCK_PLACED, 1, 0, 0, warp_count=1, grid_block=1),
        Event(EventKind.STORE, 0, 0, 0, pc=0x100, **access),
        *([Event(EventKind.FENCE, 0, 0, 0, Scope.DEVICE, pc=0x108)] if fenced else []),
        Event(EventKind.LOAD, 1, 0, 0, pc=0x200, **access),
        Event(EventKind.BLOCK_RETIRED, 0, 0),
        Event(EventKind.BLOCK_RETIRED, 1, 0),
        Event(EventKind.KERNEL_END),
    ]
    header = TraceHeader(geometry=Geometry(sm_count, 2, 4), region=DataRegion(_BASE, 12))
    Trace.from_events(header, events * 2).write_binary(path)
    return str(path)


def _call(*arguments):
    return CliRunner().invoke(simulate.command, list(arguments))


def test_race_free_trace(tmp_path):
    result = _call("scord-tiny", _trace(tmp_path / "t", fenced=True))
    assert result.exit_code == 0, result.output
    assert "hardware and golden model agree in all 6 steps" in result.output


def test_racy_trace(tmp_path):
    path, out = _trace(tmp_path / "t", fenced=False), tmp_path / "out.json"
    result = _call("scord-tiny", path, "--json", str(out))
    assert result.exit_code == 1, result.output
    assert "missing-device-fence" in result.output
    races = json.loads(out.read_text())["races"]
    assert [race["kind"] for race in races] == ["missing-device-fence"] * 2  # once a kernel
    assert races[0]["earlier"]["grid_block"] == 0


def test_trace_of_a_larger_gpu_is_refused(tmp_path):
    result = _call("scord-tiny", _trace(tmp_path / "t", fenced=True, sm_count=3))
    assert result.exit_code == 2
    assert "sm_count must be at least the 3 of the trace, not 2" in result.output


@pytest.mark.parametrize(
    ("option", "value", "suitable"),
    [
        ("--schedules", "4", "the suite scor-micro or the suite scor-apps"),
        ("--size", "tiny", "the suite scor-apps or the suite threads"),
        ("--environment", "fixed", "the suite threads or a trace of threads"),
        ("--junit", "x.xml", "the suite scor-micro"),
    ],
)
def test_options_of_other_stimuli_are_refused(tmp_path, option, value, suitable):
    result = _call("scord-tiny", _trace(tmp_path / "t", fenced=True), option, value)
    assert (result.exit_code, result.output) == (
        2, f"racetrap: Option {option} must come with {suitable}, not with a trace of a GPU.\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ("scord-tiny",),
        ("scord-tiny", "no-such-trace"),
        ("no-such-preset", "--suite", "scor-micro"),
        ("scord-tiny", "--suite", "scor-micro", "--size", "tiny"),
        ("scord-tiny", "--suite", "scor-micro", "--set", "trace_port=false"),
        ("scord-tiny", "--suite", "scor-micro", "--set", "sm_count=1", "--set", "blocks_per_sm=1"),
        ("scord-tiny", "--suite", "scor-micro", "--set", "address_bits=16"),
    ],
)
def test_bad_input(arguments):
    result = _call(*arguments)
    assert result.exit_code == 2
    assert result.output.strip()


def test_suite(tmp_path):
    junit, out = tmp_path / "junit.xml", tmp_path / "out.json"
    result = _call(
        "scord-tiny", "--suite", "scor-micro", "--schedules", "0",
        "--junit", str(junit), "--json", str(out),
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "32 of 32 micro-benchmarks" in result.output
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("32", "0")
    benchmarks = json.loads(out.read_text())["benchmarks"]
    for one in benchmarks:
        assert one["golden_right"] == one["rtl_right"] == one["schedules"] >= 3
        assert one["golden"] == one["rtl"] == one["expected"]


def test_waves_are_written(tmp_path):
    result = _call("scord-tiny", _trace(tmp_path / "t", fenced=True), "--waves")
    assert result.exit_code == 0, result.output
    path = next(line for line in result.output.splitlines() if line.startswith("Waves: "))
    with open(path.removeprefix("Waves: "), encoding="utf-8") as file:
        assert "$enddefinitions" in file.read()


def test_failed_tool_is_status_3(tmp_path, monkeypatch):
    def broken(*arguments, **options):
        raise SimulationError("Simulator must run at least one test")

    monkeypatch.setattr(bench_run, "run", broken)
    result = _call("scord-tiny", _trace(tmp_path / "t", fenced=True))
    assert result.exit_code == 3
    assert "must run at least one test" in result.output


def test_disagreement_is_status_3_and_says_how_to_repeat(tmp_path, monkeypatch):
    patch = Patch(
        "scord/detection_logic.py",
        "~self.i_fenced.dev & (~relation.same_block | ~self.i_fenced.blk)",
        "~relation.same_block | ~self.i_fenced.dev & ~self.i_fenced.blk",
    )
    monkeypatch.setattr(bench_run, "build", functools.partial(bench_run.build, patch=patch))
    result = _call("scord-tiny", _trace(tmp_path / "t", fenced=True))
    assert result.exit_code == 3
    assert "Hardware and golden model disagree: Bank 0, step 2: step differs" in result.output
    assert "run again: racetrap" in result.output


def test_wrong_verdicts_fail_in_junit(tmp_path):
    wrong = Verdict("norace_interblock_atom", "none", schedules=1, wrong=["reverse on same-sm"])
    write_junit(tmp_path / "j.xml", "suite", [wrong], "Hardware and golden model disagree")
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    messages = [failure.get("message") for failure in suite.iter("failure")]
    assert messages == [
        "wrong verdict: reverse on same-sm", "Hardware and golden model disagree",
    ]  # fmt: skip
