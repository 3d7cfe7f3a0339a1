"""The simulate command: verdicts, exit status, files."""

import functools
import json
import re
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import pytest

from racetrap.commands.shared import simulation, testbench
from racetrap.commands.shared.detectors import scord
from racetrap.evaluation.scord.verdicts import Verdict
from racetrap.golden_model.events import (
    DataRegion,
    Event,
    EventKind,
    Geometry,
    Lane,
    Scope,
    TraceHeader,
)
from racetrap.golden_model.hirace.packets import RaceKind
from racetrap.golden_model.scord.packets import TableRow
from racetrap.golden_model.trace import Trace
from racetrap.presenters.junit import junit_text
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.verilator.cocotb_run import CaseResult, RunResult, SimulationError
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.fst_waves import read_signal

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


@pytest.fixture
def simulated(racetrap):
    return functools.partial(racetrap, "simulate")


def test_race_free_trace(simulated, tmp_path):
    result = simulated("scord-tiny", _trace(tmp_path / "t", fenced=True))
    assert result.exit_code == 0, result.output
    assert "hardware and golden model agree in all 6 steps" in result.output


def test_racy_trace(simulated, tmp_path):
    path, out = _trace(tmp_path / "t", fenced=False), tmp_path / "out.json"
    result = simulated("scord-tiny", path, "--json", str(out))
    assert result.exit_code == 1, result.output
    assert "missing-device-fence" in result.output
    races = json.loads(out.read_text())["races"]
    assert [race["kind"] for race in races] == ["missing-device-fence"] * 2  # once a kernel
    assert races[0]["earlier"]["grid_block"] == 0


def test_trace_of_a_larger_gpu_is_refused(simulated, tmp_path):
    result = simulated("scord-tiny", _trace(tmp_path / "t", fenced=True, sm_count=3))
    assert result.exit_code == 2
    assert "sm_count must be at least the 3 of the trace, not 2" in result.output


@pytest.mark.parametrize(
    ("option", "value", "suitable"),
    [
        ("--schedules", "4", "the suite scor-micro on scord or the suite scor-apps on scord"),
        ("--size", "tiny", "the suite scor-apps on scord or the suite threads on sigrace"),
        ("--output", "x.xml", "the suite scor-micro on scord"),
    ],
)
def test_options_of_other_stimuli_are_refused(simulated, tmp_path, option, value, suitable):
    result = simulated("scord-tiny", _trace(tmp_path / "t", fenced=True), option, value)
    what = f"Output {value[1:]}" if option == "--output" else f"Option {option}"
    assert (result.exit_code, result.output) == (
        2,
        f"racetrap: {what} is for {suitable}, not for a trace of a GPU on scord: leave it out.\n",
    )


@pytest.mark.parametrize(
    ("region", "settings", "sentence"),
    [
        ("0x10000", "regions=2", "Option --region must be BASE:BYTES, not 0x10000."),
        ("0x10000:100", "regions=2", "Option --region must be of whole lines of 128 bytes, not 1"),
        ("0x10040:128", "regions=2", "Region 0 base must be a multiple of 128, not 0x10040."),
        ("0x10000:128", "regions=1", "Parameter regions must be at least 2 for a table"),
    ],
)
def test_bad_region_is_refused(simulated, tmp_path, region, settings, sentence):
    trace = _trace(tmp_path / "t", fenced=True)
    result = simulated("scord-tiny", trace, "--set", settings, "--region", region)
    assert result.exit_code == 2
    assert sentence in result.output


@pytest.mark.campaign
@pytest.mark.parametrize(("base", "races"), [(_BASE, 2), (_BASE + 128, 0)])
def test_regions_of_the_options_are_monitored(simulated, tmp_path, base, races):
    trace, out = _trace(tmp_path / "t", fenced=False), tmp_path / "out.json"
    regions = ("--region", f"{base:#x}:128", "--region", "0x20000:0x300")
    result = simulated("scord-tiny", trace, "--set", "regions=3", *regions, "--json", str(out))
    assert result.exit_code == min(races, 1), result.output
    assert len(json.loads(out.read_text())["races"]) == races


@pytest.mark.parametrize(
    "arguments",
    [
        ("scord-tiny",),
        ("scord-tiny", "no-such-trace"),
        ("no-such-preset", "scor-micro"),
        ("scord-tiny", "scor-micro", "--size", "tiny"),
        ("scord-tiny", "scor-micro", "--set", "trace_port=false"),
        ("scord-tiny", "scor-micro", "--set", "sm_count=1", "--set", "blocks_per_sm=1"),
        ("scord-tiny", "scor-micro", "--set", "address_bits=16"),
    ],
)
def test_bad_input(simulated, arguments):
    result = simulated(*arguments)
    assert result.exit_code == 2
    assert result.output.strip()


def test_suite(simulated, tmp_path):
    junit, out = tmp_path / "junit.xml", tmp_path / "out.json"
    result = simulated(
        "scord-tiny", "scor-micro", "--schedules", "0",
        "--output", str(junit), "--json", str(out),
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "32 of 32 micro-benchmarks" in result.output
    suite = ElementTree.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("32", "0")
    document = json.loads(out.read_text())
    assert document["failure"] is None
    for one in document["benchmarks"]:
        assert one["golden_right"] == one["rtl_right"] == one["schedules"] >= 3
        assert one["golden"] == one["rtl"] == one["expected"]


def _suite_of(monkeypatch, *verdicts):
    """The suite with these verdicts, and nothing built or run."""
    monkeypatch.setattr(simulation, "build_fast", lambda name, params: None)
    monkeypatch.setattr(scord, "run_parallel", lambda *_: list(verdicts))


def test_wrong_verdict_is_status_3(simulated, monkeypatch, tmp_path):
    wrong = Verdict("norace_interblock_atom", schedules=1, wrong=["reverse on same-sm"])
    _suite_of(monkeypatch, wrong)
    result = simulated("scord-tiny", "scor-micro", "--output", tmp_path / "w.vcd")
    assert result.exit_code == 3
    assert "norace_interblock_atom must be none, not wrong with reverse on same" in result.stderr


def test_difference_in_a_suite_is_status_3(simulated, monkeypatch, tmp_path):
    found = Verdict("norace_interblock_atom", difference="reverse on same-sm: Bank 0, step 2")
    _suite_of(monkeypatch, found)
    junit = tmp_path / "junit.xml"
    result = simulated("scord-tiny", "scor-micro", "--json", "-", "--output", junit)
    assert result.exit_code == 3
    sentence = "norace_interblock_atom, reverse on same-sm: Bank 0, step 2"
    assert json.loads(result.stdout)["failure"] == sentence
    assert f"Hardware and golden model disagree: {sentence}.\n" in result.stderr
    assert ElementTree.parse(junit).getroot().get("failures") == "1"


@pytest.mark.parametrize(
    ("preset", "signal", "value", "least"),
    [
        ("hirace-tiny", "race [2:0]", f"{RaceKind.READ_AFTER_WRITE:03b}", 20),
        ("scord-tiny", "row [4:0]", f"{TableRow.LOAD_UNFENCED_WRITE:05b}", 40),
    ],
)
@pytest.mark.campaign
def test_waves_are_written(simulated, tmp_path, preset, signal, value, least):
    file = tmp_path / "waves" / "run.fst"
    file.parent.mkdir()
    trace = _trace(tmp_path / "t", fenced=False)
    result = simulated(preset, trace, "--output", file)
    assert result.exit_code == 1, result.output
    assert f"Waves: {file}\n" in result.output
    names = {"run.fst", "run.fst.gtkw", "run.fst.sucl"}
    assert {path.name for path in file.parent.iterdir()} == names
    scopes, names, changes = read_signal(file, f"testbench.step_0.{signal}")
    for scope in scopes:
        assert not scope.startswith("testbench.dut")
    assert value in [row for _, row in changes]
    shown = {name.replace(" ", "") for name in names}
    signals = re.findall(r"^testbench\..*", (tmp_path / "waves/run.fst.gtkw").read_text(), re.M)
    assert len(signals) > least
    assert shown.issuperset(signals)
    plain = {name.split("[")[0] for name in shown}
    added = re.findall(r"^variable_add (.*)", (tmp_path / "waves/run.fst.sucl").read_text(), re.M)
    assert plain.issuperset(added)
    assert len(added) == len(signals)


@pytest.mark.parametrize("name", ["w", "w.vcd.gz", "w.txt"])
def test_waves_have_a_known_form(simulated, tmp_path, name):
    result = simulated("scord-tiny", _trace(tmp_path / "t", fenced=True), "--output", name)
    assert result.exit_code == 2
    assert (
        f"must end in .fst (waves), .vcd (waves), .xml (the suite's verdicts as JUnit), not {name}"
        in result.stderr
    )


@pytest.fixture
def unbuilt(monkeypatch):
    """No simulator is built."""
    model = SimpleNamespace(views=[])
    monkeypatch.setattr(testbench, "build", lambda *_, **__: model)


def test_waves_of_several_runs_at_once(simulated, unbuilt, tmp_path, monkeypatch):
    """No run waits for another, or writes where it does: each has a folder of its own."""
    folders = []

    def record(model, module, folder, *_, **__):
        folders.append(folder)
        folder.mkdir(exist_ok=True)
        (folder / "waves.vcd").touch()
        return RunResult([], [], folder)

    monkeypatch.setattr(testbench, "run", record)
    trace = _trace(tmp_path / "t", fenced=True)
    for _ in range(2):
        assert simulated("scord-tiny", trace, "--output", tmp_path / "w.vcd").exit_code == 0
    assert len(set(folders)) == 2


def test_waves_that_cannot_be_written(simulated, tmp_path):
    trace = _trace(tmp_path / "t", fenced=True)
    result = simulated("scord-tiny", trace, "--output", tmp_path / "none" / "w.vcd")
    assert result.exit_code == 2
    assert "File must be one that can be written" in result.stderr


@pytest.mark.campaign
def test_suite_on_the_testbench(simulated, tmp_path):
    file = tmp_path / "w.vcd"
    result = simulated("scord-tiny", "scor-micro", "--schedules", 0, "--output", file)
    assert result.exit_code == 0, result.output
    assert f"\nWaves: {file}\n" in result.output


def test_failed_tool_is_status_3(simulated, unbuilt, tmp_path, monkeypatch):
    def broken(*arguments, **options):
        raise SimulationError("Simulator must run at least one test")

    monkeypatch.setattr(testbench, "run", broken)
    result = simulated(
        "scord-tiny", _trace(tmp_path / "t", fenced=True), "--output", tmp_path / "w.vcd"
    )
    assert result.exit_code == 3
    assert "must run at least one test" in result.output


def test_disagreement_is_status_3(simulated, tmp_path, monkeypatch):
    def differ(*_):
        raise Mismatch("Bank 0, step 2: step differs")

    monkeypatch.setattr("racetrap.verdict.scord.hardware.check_launch", lambda *_, **__: differ())
    result = simulated("scord-tiny", _trace(tmp_path / "t", fenced=True))
    assert (result.exit_code, result.output) == (
        3, "racetrap: Hardware and golden model disagree: Bank 0, step 2: step differs.\n"
    )  # fmt: skip


def test_disagreement_on_the_testbench_says_how_to_repeat(
    simulated, unbuilt, tmp_path, monkeypatch
):  # fmt: skip
    def differ(model, module, folder, *_, **__):
        (folder / "waves.vcd").touch()
        (folder / "simulation.log").touch()
        return RunResult([CaseResult("play", 1.0, "Bank 0, step 2: step differs")], [], folder)

    monkeypatch.setattr(testbench, "run", differ)
    _says_how_to_repeat(simulated, tmp_path)


@pytest.mark.campaign
def test_a_bug_that_the_testbench_finds_is_said(simulated, tmp_path, monkeypatch):
    patch = Patch(
        "scord/detection_logic.py",
        "~self.i_fenced.dev & (~relation.same_block | ~self.i_fenced.blk)",
        "~relation.same_block | ~self.i_fenced.dev & ~self.i_fenced.blk",
    )
    monkeypatch.setattr(testbench, "build", functools.partial(testbench.build, patch=patch))
    _says_how_to_repeat(simulated, tmp_path)


def _says_how_to_repeat(simulated, tmp_path):
    result = simulated(
        "scord-tiny", _trace(tmp_path / "t", fenced=True), "--output", tmp_path / "w.vcd"
    )
    assert result.exit_code == 3
    assert "Hardware and golden model disagree: Bank 0, step 2: step differs" in result.output
    assert "run again: racetrap" in result.output
    assert (tmp_path / "w.vcd.log").is_file()


def test_wrong_verdicts_fail_in_junit():
    wrong = Verdict("norace_interblock_atom", schedules=1, wrong=["reverse on same-sm"])
    differs = Verdict("race_interblock_blkatom", difference="Hardware and golden model disagree")
    problems = {each.name: each.problem for each in (wrong, differs)}
    suite = ElementTree.fromstring(junit_text("suite", problems))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    messages = [failure.get("message") for failure in suite.iter("failure")]
    assert messages == [
        "wrong verdict: reverse on same-sm", "Hardware and golden model disagree",
    ]  # fmt: skip
