"""`racetrap campaign`: tables, JSON, exit status and the line that reruns a case."""

import json
from pathlib import Path

import pytest

from racetrap.commands import campaign
from racetrap.evaluation.campaign import random_volume
from racetrap.evaluation.campaign.random_volume import Case, CaseResult
from racetrap.evaluation.sigrace.recorded import ComparedProgram
from racetrap.generators.presets import PRESETS
from racetrap.generators.systems import SYSTEMS
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.verilator.build_cache import BuildError
from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from tests.support.long_work import answer, stop_after

_TINY = ("scord-tiny",)
_PRESETS = {system.name: system.presets for system in SYSTEMS}


def _model(name):
    """A model that is not built: for cases that never run."""
    return FastModel(name, random_volume.find_compared(name).params, Path(), {})


@pytest.fixture
def unbuilt(monkeypatch):
    monkeypatch.setattr(campaign, "build_fast", lambda name, params: _model(name))


@pytest.mark.parametrize(
    ("system", "bin_name"), [("scord", "access.unmonitored"), ("sigrace", "access.unaligned")]
)
def test_volume(racetrap, tmp_path, system, bin_name):
    file = tmp_path / "result.json"
    preset = f"{system}-tiny"
    result = racetrap("campaign", preset, "--budget", 2000, "--json", file)
    assert result.exit_code == 0
    summary = json.loads(file.read_text())
    (row,) = summary["presets"]
    assert row["preset"] == preset
    assert row["accesses" if system == "scord" else "events"] >= 2000
    assert row["differences"] == 0
    assert row["races" if system == "scord" else "conflicts"] > 0
    assert summary["coverage"].keys() == {system}
    assert summary["coverage"][system][bin_name] > 0
    assert f"functional coverage bins of {system} hit" in result.output


def _result(model, seed=1, number=0, difference="", volume=10):
    case = Case(model, seed, number)
    counts = dict.fromkeys(case.kind.figures, volume) | {"cycles": 20}
    return CaseResult(case, counts, 1.0, difference)


def _no_volume(monkeypatch, failures=None):
    """Cases that are not run: one for each preset, with the difference given."""
    seen = []

    def run(case):
        preset, seed, number = case
        if not number:  # the next one begins while this one runs
            seen.append(preset)
        difference = (failures or {}).get(preset, "")
        return _result(_model(preset), seed, number, difference, volume=10**6)

    answer(monkeypatch, run)
    return seen


def test_all_presets_of_all_systems(racetrap, unbuilt, monkeypatch):
    seen = _no_volume(monkeypatch)
    result = racetrap("campaign")
    assert result.exit_code == 0
    assert seen == list(PRESETS)
    for system in _PRESETS:
        assert f"Hardware against golden model, {system}\n" in result.output


@pytest.mark.parametrize("system", _PRESETS)
def test_presets_of_one_system(racetrap, unbuilt, monkeypatch, system):
    seen = _no_volume(monkeypatch)
    assert racetrap("campaign", "--detector", system).exit_code == 0
    assert seen == list(_PRESETS[system])


def test_presets_by_name(racetrap, unbuilt, monkeypatch):
    seen = _no_volume(monkeypatch)
    assert racetrap("campaign", "scord-tiny", "sigrace", "scord-tiny").exit_code == 0
    assert seen == ["scord-tiny", "sigrace"]


def test_tiles_by_name(racetrap, monkeypatch):
    seen = _no_volume(monkeypatch, {"scord-v100-tiles": "Bank 511: one"})
    result = racetrap("campaign", "scord-v100-tiles", "causality-tiny-tiles")
    assert result.exit_code == 3
    assert seen == ["scord-v100-tiles", "causality-tiny-tiles"]
    rerun = "racetrap campaign scord-v100-tiles --seed 1 --case 0"
    assert f"scord-v100-tiles, case 0: Bank 511: one\n  rerun: {rerun}" in result.output


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hirace-tiny-tiles", "must be of a detector with tiles, not of hirace"),
        ("scord-huge-tiles", "Unknown preset 'scord-huge'"),
        ("scord-v100", "is too large for one simulator: name its tiles, scord-v100-tiles"),
    ],
)
def test_names_of_which_nothing_is_compared(racetrap, name, message):
    result = racetrap("campaign", name)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


@pytest.mark.parametrize("options", [["--case", "1"], ["--recorded", "tiny"]])
def test_one_preset_only(racetrap, unbuilt, options):
    result = racetrap("campaign", "sigrace", "sigrace-tiny", *options)
    assert result.exit_code == 2
    assert f"{options[0]} must come with one PRESET" in result.output


def test_random_configurations(racetrap, unbuilt, monkeypatch):
    _no_volume(monkeypatch)
    result = racetrap("campaign", "--configurations", 2, "--json", "-")
    assert result.exit_code == 0
    names = [row["preset"] for row in json.loads(result.stdout)["presets"]]
    assert names == [f"{system.random_prefix}-{number}" for system in SYSTEMS for number in (1, 2)]
    result = racetrap("campaign", "--configurations", 1, "--detector", "sigrace", "--json", "-")
    (row,) = json.loads(result.stdout)["presets"]
    assert row["preset"] == "sigrace-random-1"


@pytest.mark.parametrize("preset", ["scord-tiny", "sigrace-tiny"])
def test_one_case_is_the_same_as_in_the_campaign(racetrap, preset):
    options = ("campaign", preset, "--case", 1, "--seed", 5, "--json", "-")
    one, again = (json.loads(racetrap(*options).stdout)["presets"][0] for _ in range(2))
    for row in (one, again):
        del row["events_per_second" if "sigrace" in preset else "accesses_per_second"]
    assert one == again
    assert one["cases"] == 1


def test_every_difference_is_printed(racetrap, unbuilt, monkeypatch):
    _no_volume(monkeypatch, {"scord": "Bank 0: one", "sigrace": "RDM: another"})
    result = racetrap("campaign")
    assert result.exit_code == 3
    for preset, difference in (("scord", "Bank 0: one"), ("sigrace", "RDM: another")):
        assert (
            f"{preset}, case 0: {difference}\n"
            f"  rerun: racetrap campaign {preset} --seed 1 --case 0\n"
        ) in result.output


def test_difference_of_one_case(racetrap, unbuilt, monkeypatch):
    def differ(case):
        preset, seed, number = case
        return _result(_model(preset), seed, number, "Bank 0, step 3: something")

    monkeypatch.setattr(campaign, "run_numbered", differ)
    result = racetrap("campaign", "scord-tiny", "--case", 4, "--seed", 9)
    assert result.exit_code == 3
    assert "scord-tiny, case 4: Bank 0, step 3: something" in result.output
    assert "rerun: racetrap campaign scord-tiny --seed 9 --case 4" in result.output


@pytest.mark.parametrize("error", [SimulationError, BuildError])
def test_failed_run(racetrap, unbuilt, monkeypatch, error):
    def fail(*_):
        raise error("Simulation stopped: nothing moved")

    answer(monkeypatch, fail)
    result = racetrap("campaign", "sigrace-tiny")
    assert result.exit_code == 3
    assert result.stderr == "racetrap: Simulation stopped: nothing moved.\n"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("scord-huge",), "Unknown preset 'scord-huge'"),
        (("--case", "3"), "Option --case must come with one PRESET"),
        (("--budget", "0"), "0 is not in the range"),
        (("--detector", "other"), "is not one of 'scord', 'sigrace'"),
        (
            ("scord", "--detector", "scord"),
            "Option --detector is for random tests of many presets, not for random tests of",
        ),
        (
            ("scord", "--configurations", "3"),
            "--configurations is for random tests of many presets, not for random tests of",
        ),
        (
            (*_TINY, "--case", "3", "--budget", "9"),
            "Option --budget is for random tests of many presets or random tests of",
        ),
    ],
)
def test_bad_options(racetrap, options, sentence):
    result = racetrap("campaign", *options)
    assert result.exit_code == 2
    assert sentence in result.output


def test_failed_build(racetrap, monkeypatch):
    def fail(name, params):
        raise BuildError("Command verilator failed")

    answer(monkeypatch)
    monkeypatch.setattr(random_volume, "build_fast", fail)
    result = racetrap("campaign", "scord-tiny")
    assert result.exit_code == 3
    assert "Command verilator failed" in result.stderr


def _recorded(monkeypatch, difference=""):
    """Programs that are not run; fft differs if told so."""

    def compare(job):
        counts = {"events": 1000, "messages": 10, "rdm_steps": 30, "conflicts": 2, "cycles": 400}
        return ComparedProgram(job.program, counts, 0.5, difference * (job.program == "fft"))

    answer(monkeypatch, compare)


def test_recorded_programs(racetrap, tmp_path, monkeypatch, unbuilt):
    _recorded(monkeypatch)
    file = tmp_path / "result.json"
    result = racetrap("campaign", "--recorded", "tiny", "--json", file)
    assert result.exit_code == 0
    found = json.loads(file.read_text())
    assert [row["program"] for row in found["programs"]] == list(PROGRAMS)
    assert found["all"]["events"] == 1000 * len(PROGRAMS)
    assert found["all"]["events_per_second"] == 2000
    assert found["differences"] == {}
    assert (found["preset"], found["seed"]) == ("sigrace", 1)


def test_recorded_programs_go_on_after_a_stop(racetrap, monkeypatch, unbuilt):
    _recorded(monkeypatch)
    stop_after(monkeypatch, 2, KeyboardInterrupt())
    stopped = racetrap("campaign", "--recorded", "tiny", "--json", "-")
    assert (stopped.exit_code, json.loads(stopped.stdout)["missing"]) == (130, list(PROGRAMS)[2:])
    again = racetrap("campaign", "--recorded", "tiny", "--json", "-")
    assert (again.exit_code, json.loads(again.stdout)["kept"]) == (0, 2)


def test_a_build_that_fails_leaves_what_is_missing(racetrap, monkeypatch):
    def fail(name, params):
        raise BuildError("Command verilator failed")

    monkeypatch.setattr(campaign, "build_fast", fail)
    result = racetrap("campaign", "--recorded", "tiny", "--json", "-")
    assert (result.exit_code, json.loads(result.stdout)["missing"]) == (3, list(PROGRAMS))
    assert result.stderr.endswith("racetrap: Command verilator failed.\n")


def test_a_recorded_program_that_differs(racetrap, monkeypatch, unbuilt):
    _recorded(monkeypatch, "Core 1, context 0, step 4: step differs")
    result = racetrap("campaign", "--recorded", "tiny")
    assert result.exit_code == 3
    assert "fft: Core 1, context 0, step 4: step differs" in result.output
    assert f"1 of {len(PROGRAMS)} programs differ." in result.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--case", 1, "sigrace"), "--case is for one case of a preset, not for recorded programs"),
        (("scord",), "not for recorded programs: take one of sigrace"),
        (("--configurations", 2), "--configurations"),
        (("--budget", 2), "--budget"),
    ],
)
def test_options_that_recorded_programs_do_not_have(racetrap, unbuilt, options, message):
    result = racetrap("campaign", "--recorded", "tiny", *options)
    assert result.exit_code == 2
    assert message in result.output
