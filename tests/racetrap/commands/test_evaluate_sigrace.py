"""`racetrap evaluate sigrace`: tables, JSON, page, exit status."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from racetrap.calls import evaluate_sigrace
from racetrap.sim.cpu.errors import RecordError
from tests.support.long_work import answer
from tests.support.sigrace.programs import ThreadProgram
from tests.support.sigrace.results import EXISTING, result


def play(monkeypatch, made, asked=None):
    """Programs whose results are as of ``made``; their parts go to ``asked``."""
    names = ("figures", "existing", "policies", "verdict", "hardware")
    parts = {name: getattr(made, name) for name in names}
    parts["injected"] = parts["pace"] = None

    def make(part):
        if asked is not None:
            asked.append(part)
        return parts[part.part]

    answer(monkeypatch, make)


def test_one_program(racetrap, tmp_path):
    files = tmp_path / "result.json", tmp_path / "page.html"
    done = racetrap(
        "--jobs", 1, "evaluate", "sigrace", "lu", "--size", "tiny", "--budget", 1, "--seed", 7,
        "--hardware-size", "none", "--json", files[0], "--output", files[1],
    )  # fmt: skip
    assert done.exit_code == 0
    data = json.loads(files[0].read_text())
    assert (data["programs"], data["seed"], data["runs with injected races"]) == (1, 7, 1)
    assert data["problems"] == []
    assert [row["program"] for row in data["tables"]["existing"]] == ["lu", "Total"]
    assert data["tables"]["hardware"] == []
    assert data["verdicts"][0]["agrees"]
    assert data["injected"]["lu"][0]["removed"].startswith("crossing of barrier")
    papers, *_, ring, _ = data["tables"]["policies"]
    assert (papers["policy"], ring["policy"]) == ("blocks", "ring of 32,768, queues of 64")
    assert papers["for nothing %"] > 0
    assert not ring["for nothing %"]
    assert [row["program"] for row in data["tables"]["rings"]] == ["lu"]
    assert "Fig. 7(a)" in done.output
    assert "table-figure-8" in files[1].read_text()


def recording(folder, name="own.trace", threads=2, instructions=10):
    """A file with a race, and a lock to leave out."""
    program = ThreadProgram(threads)
    for thread in range(2):
        program.store(thread, 0x1000, instructions=instructions)
        program.lock(thread)
        program.store(thread, 0x2000)
        program.unlock(thread)
    file = folder / name
    program.trace().write_binary(file)
    return file


def test_recordings_of_the_user(racetrap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    recording(tmp_path, "lu")
    recording(tmp_path / "runs", threads=9)
    words = ("./lu", "runs/own.trace", "./lu", "--budget", 3, "--hardware-size", "none")
    answer(monkeypatch)
    done = racetrap("evaluate", "sigrace", *words, "--json", "result.json")
    assert done.exit_code == 0
    assert "./lu: static races 1, by SigRace 1; injected in 3 runs, found in 3" in done.output
    data = json.loads((tmp_path / "result.json").read_text())
    assert (data["programs"], data["verdicts"], data["problems"]) == (2, [], [])
    assert list(data["injected"]) == ["./lu", "runs/own.trace"]
    existing, _, _ = data["tables"]["existing"]
    assert (existing["program"], existing["paper: application"]) == ("./lu", None)
    injected, _, _ = data["tables"]["injected"]
    assert (injected["racy"], injected["static, SigRace"]) == (3, 3)
    assert data["prediction"].startswith("On average W-ReEnact loses ")


def test_another_recording_of_the_same_name_is_measured(racetrap, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("evaluate", "sigrace", "own.trace", "--budget", 0, "--hardware-size", "none")
    answer(monkeypatch)
    seen = []
    for instructions in (10, 10, 20):
        recording(tmp_path, instructions=instructions)
        assert racetrap(*words, "--json", "result.json").exit_code == 0
        data = json.loads((tmp_path / "result.json").read_text())
        seen.append((data["kept"], data["instructions"]))
    assert seen == [(0, 29), (1, 29), (0, 49)]


def test_recordings_run_on_hardware_that_has_a_core_for_each_thread(
    racetrap, tmp_path, monkeypatch
):
    asked = []
    play(monkeypatch, result("fft"), asked)
    monkeypatch.setattr("racetrap.calls.evaluate_sigrace.build_fast", lambda *_: "model")
    files = [recording(tmp_path, f"{threads}.trace", threads) for threads in (8, 9)]
    racetrap("evaluate", "sigrace", *files, "--budget", 0)
    parts = {(part.part, part.program): part for part in asked}
    assert {kind for kind, _ in parts} == {"existing", "figures", "policies", "hardware"}
    assert [name for kind, name in parts if kind == "hardware"] == [str(files[0])]
    assert [parts["figures", str(file)].params.cores for file in files] == [8, 9]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("fft2", None, "Unknown program 'fft2'"),
        ("no.trace", None, "no.trace"),
        ("notes.txt", "# what I did\n", "notes.txt, line 1"),
        ("body.txt", None, "Trace system must be 'sigrace', not 'scord'"),
    ],
)
def test_files_that_are_no_recordings(racetrap, racy, tmp_path, monkeypatch, name, text, sentence):
    monkeypatch.chdir(tmp_path)
    if text is not None:
        (tmp_path / name).write_text(text)
    done = racetrap("evaluate", "sigrace", "lu", name)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        ({"threads": 129}, "Trace has 129 threads, but this detector has at most 128"),
        (
            {"instructions": 1 << 29},
            "own.trace: Recording must have at most 1,000,000,000 instruct",
        ),
    ],
)
def test_recordings_that_are_too_large(racetrap, tmp_path, made, sentence):
    done = racetrap("evaluate", "sigrace", recording(tmp_path, **made))
    assert done.exit_code == 2
    assert sentence in done.stderr


def test_recordings_that_synchronise_too_often(racetrap, tmp_path, monkeypatch):
    few = replace(evaluate_sigrace._PRESET.params, timestamp_bits=3)
    monkeypatch.setattr(evaluate_sigrace, "_PRESET", SimpleNamespace(params=few))
    program = ThreadProgram(2)
    for _ in range(3):
        program.synchronise(0)
    file = tmp_path / "own.trace"
    program.trace().write_binary(file)
    done = racetrap("evaluate", "sigrace", file, "--hardware-size", "none")
    assert done.exit_code == 2
    assert "must have fewer than 8 synchronisations, not 8" in done.stderr


def test_all_programs_by_default(racetrap, monkeypatch):
    asked = []

    play(monkeypatch, result("fft"), asked)
    done = racetrap("evaluate", "sigrace", "--hardware-size", "none", "--json", "-")
    assert done.exit_code == 0
    assert len({part.program for part in asked}) == 13
    assert sum(part.part == "injected" for part in asked) == 13 * 25
    assert {part.size for part in asked} == {"small"}
    assert json.loads(done.stdout)["programs"] == 13


def test_a_report_that_is_no_race_is_a_failure(racetrap, monkeypatch):
    play(monkeypatch, result("fft", existing=replace(EXISTING, unreal=1)))
    done = racetrap("evaluate", "sigrace", "--hardware-size", "none", "fft")
    assert done.exit_code == 3
    assert "fft: SigRace reports 1 races" in done.stderr


def test_a_program_that_cannot_be_recorded_is_a_failure(racetrap, monkeypatch):
    def fails(*_):
        raise RecordError("Command gcc was not found")

    answer(monkeypatch, fails)
    done = racetrap("evaluate", "sigrace", "--hardware-size", "none")
    assert done.exit_code == 3
    assert done.stderr.strip().endswith("racetrap: Command gcc was not found.")


def test_page_that_cannot_be_written_is_bad_input(racetrap, tmp_path):
    done = racetrap("evaluate", "sigrace", "--output", tmp_path / "missing" / "page.html")
    assert done.exit_code == 2
    assert "must be one that can be written" in done.stderr


@pytest.mark.parametrize("options", [("doom",), ("--budget", -1), ("--seed", -1)])
def test_bad_options(racetrap, options):
    assert racetrap("evaluate", "sigrace", *options).exit_code == 2
