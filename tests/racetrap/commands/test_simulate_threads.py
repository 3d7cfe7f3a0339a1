"""`racetrap simulate` of SigRace: verdicts, refusals, and a difference that is found."""

import json

import pytest
from click.testing import CliRunner

from racetrap.cli import cli
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from tests.support import REPOSITORY

_EXAMPLES = REPOSITORY / "docs" / "examples"
_RACY, _CLEAN = _EXAMPLES / "unlocked-sum.trace", _EXAMPLES / "locked-sum.trace"
#: Three threads take turns on two cores.
_TINY = ("sigrace-tiny", "--set", "environment=multiplex")


def simulate(*arguments):
    return CliRunner().invoke(cli, ["simulate", *map(str, arguments)])


def test_races_of_a_trace_as_check_finds_them(tmp_path):
    file = tmp_path / "result.json"
    result = simulate(*_TINY, _RACY, "--json", file)
    assert result.exit_code == 1, result.output
    assert "hardware and golden model agree in all" in result.output
    found = json.loads(file.read_text())
    check = CliRunner().invoke(
        cli, ["check", str(_RACY), "--detector", *_TINY, "--json", "-"], catch_exceptions=False
    )
    expected = json.loads(check.stdout)
    assert found["races"] == expected["races"]
    assert found["conflicts"] == expected["conflicts"] > 0
    assert found["analysed_events"] > 0


def test_clean_trace():
    result = simulate(*_TINY, _CLEAN)
    assert result.exit_code == 0, result.output
    assert "Races: none" in result.output


@pytest.mark.campaign
def test_waves_are_written(tmp_path):
    waves = tmp_path / "w.vcd"
    result = simulate(*_TINY, _RACY, "--output", waves)
    assert result.exit_code == 1, result.output
    assert waves.read_text().startswith("$version")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("scord", _RACY), "preset of scord does not read a trace of threads"),
        (
            ("sigrace", _EXAMPLES / "block-fence.trace"),
            "preset of sigrace does not read a trace of a GPU",
        ),
        (("scord", "threads"), "preset of scord is not for threads"),
        (("sigrace", "scor-micro"), "preset of sigrace is not for scor-micro"),
        (("sigrace", "threads", "--size", "paper"), "Option --size must be tiny or"),
        (
            ("sigrace", "threads", "--output", "w.vcd"),
            "Option --output is for",
        ),
        (
            ("sigrace", _RACY, "--output", "x.xml"),
            "Output .xml is for the suite scor-micro",
        ),
        (("sigrace", "threads", "--schedules", 4), "not for the suite threads on sigrace"),
        (("sigrace", _RACY, "--schedules", 4), "--schedules is for the suite scor-micro"),
        (("sigrace", _RACY, "--size", "tiny"), "Option --size is for the suite scor-apps"),
        (("sigrace", _RACY, "--set", "trace_port=false"), "Parameter trace_port must be true"),
        (("sigrace-tiny", _RACY), "has only 2 contexts"),
    ],
)
def test_refusals(arguments, message):
    result = simulate(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_too_many_threads_are_refused_before_a_build(monkeypatch):
    def build(*_):
        raise AssertionError("Nothing must be built for a trace that does not fit")

    monkeypatch.setattr("racetrap.commands.shared.simulation.build_fast", build)
    result = simulate("sigrace-tiny", _RACY)
    assert (result.exit_code, "has only 2 contexts" in result.output) == (2, True)


def test_a_difference_is_said_in_one_sentence(monkeypatch):
    def differ(*_):
        raise Mismatch("planted")

    monkeypatch.setattr("racetrap.sim.cosim.sigrace.machine.run_program", differ)
    result = simulate(*_TINY, _RACY)
    assert result.exit_code == 3
    assert result.output == "racetrap: Hardware and golden model disagree: planted.\n"


@pytest.mark.campaign
def test_programs(tmp_path):
    """All programs on a smaller machine than the paper's."""
    file = tmp_path / "result.json"
    small = ("sigrace-tiny", "--set", "cores=2", "--set", "threads=2",
             "--set", "timestamp_bits=16", "--set", "block_instructions=500",
             "--set", "usb_limit=16")  # fmt: skip
    result = simulate(*small, "threads", "--json", file)
    assert result.exit_code == 0, result.output
    document = json.loads(file.read_text())
    assert [run["program"] for run in document["programs"]] == list(PROGRAMS)
    assert sum(run["static"] for run in document["programs"]) > 0
    for run in document["programs"]:
        assert run["core_events"] > run["events"] // 2, run
        assert run["unreal"] == 0
        assert run["static"] <= run["exact"]
