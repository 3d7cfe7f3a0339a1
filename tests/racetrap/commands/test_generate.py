"""Commands `generate` and `presets`."""

import json
import re
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner

from racetrap.cli import cli
from racetrap.generators.presets import PRESETS
from racetrap.generators.systems import SYSTEMS

_LARGE_PRESETS = [name for system in SYSTEMS for name in system.large_presets]


def run(*arguments):
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def test_generate_writes_the_files_and_says_which(tmp_path):
    done = run("generate", "scord-tiny", "-o", tmp_path / "new", "--set", "ratio=8")
    assert done.exit_code == 0
    files = sorted((tmp_path / "new").iterdir())
    assert sorted(done.output.split()) == [str(path) for path in files]
    [description] = (tmp_path / "new").glob("*.json")
    assert json.loads(description.read_text())["parameters"]["ratio"] == 8


def test_a_changed_configuration_replaces_no_file_of_its_preset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    every = []
    for settings in ([], ["--set", "outstanding=16"], ["--verilog", "asynchronous-reset"]):
        done = run("generate", "hirace-tiny", "-o", "rtl", *settings)
        assert done.exit_code == 0
        every.append(done.output.split())
    files = [file for files in every for file in files]
    assert len(set(files)) == len(files) == len(list((tmp_path / "rtl").iterdir()))
    modules = [
        set(re.findall(r"^module (\S+?)\(", Path(verilog).read_text(), re.MULTILINE))
        for files in every
        for verilog in files
        if verilog.endswith(".v")
    ]
    assert len(modules) == 3
    for one, other in combinations(modules, 2):
        assert not one & other
    text = Path("rtl/hirace-tiny-asynchronous-reset.v").read_text()
    assert "posedge rst" in text
    assert "asynchronous reset\n" in text[:500]


def test_name_is_that_of_folder_files_and_modules(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = ("--set", "threads=4", "--set", "form=hashed")
    done = run("generate", "sigrace-tiny", *settings, "--name", "my-soc", "--json", "-")
    result = json.loads(done.stdout)
    assert (result["preset"], result["name"]) == ("sigrace-tiny", "my-soc")
    assert result["files"]["verilog"] == str(Path("my-soc", "my-soc.v"))
    assert [path.name for path in tmp_path.iterdir()] == ["my-soc"]
    for path in (tmp_path / "my-soc").iterdir():
        # A package is in a file of its own name, which has no hyphen.
        assert path.name.startswith(("my-soc", "my_soc_pkg."))
        if path.suffix == ".v":
            text = path.read_text()
            names = re.findall(r"^module (\S+?)\(", text, re.MULTILINE)
            for name in names:
                assert name.startswith("my_soc")
            assert "// Preset: sigrace-tiny\n// Settings: threads=4 form=hashed\n" in text[:500]


def test_files_are_in_a_folder_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "noncoherent-tiny"
    assert run("--quiet", "generate", name).output == ""
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name / f"{name}.v").is_file()


@pytest.mark.parametrize(
    ("settings", "latency", "sentence", "rate"),
    [
        ({"outstanding": 32}, 100, "takes 0.15 of 1 accesses a cycle, with --set "
         "outstanding=256 it takes 1.", 32 / 213),
        ({"outstanding": 256}, 100, None, 1),
        ({"outstanding": 8}, 1, "outstanding=16 it takes 1.", 8 / 15),
        ({"outstanding": 16}, 1, None, 1),
        ({"outstanding": 64, "banks": 8, "words_per_cycle": 8}, 100, "takes 2.4 of 8 accesses",
         64 / 213),
        ({"outstanding": 512}, 1000, "with --set outstanding=1024 it takes 0.51.", 512 / 2013),
    ],
)  # fmt: skip
def test_a_window_too_small_for_the_memory(
    tmp_path, monkeypatch, settings, latency, sentence, rate
):  # fmt: skip
    files = {"description": Path("x.json")}
    monkeypatch.setattr("racetrap.commands.generate.generate", lambda *_, **__: files)
    words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    done = run(
        "generate", "scord-tiny", *words, "--latency", latency, "-o", tmp_path, "--json", "-"
    )
    assert done.exit_code == 0
    assert json.loads(done.stdout)["segments_per_cycle"] == rate
    assert ("Parameter outstanding is too small" in done.stderr) == (sentence is not None)
    assert (sentence or "") in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["sigrace-tiny", "--latency", "9"],
            "must come with a preset that has metadata in memory",
        ),
        (
            ["scord-local", "--latency", "9"],
            "must come with a preset that has metadata in memory",
        ),
        (["scord-big"], "Unknown preset 'scord-big'"),
        (["scord-tiny", "--set", "ratio=3"], "Parameter ratio must be a power of two, not 3."),
        (["scord-tiny", "--set", "speed=3"], "Unknown setting 'speed'"),
        (["scord-tiny", "--name", "4banks"], "Name must be letters, digits"),
        (["scord-tiny", "--name", "../scord"], "Name must be letters, digits"),
        ([], "Missing argument 'PRESET'"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(tmp_path, arguments, sentence):
    done = run("generate", *arguments, "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert sentence in done.output
    assert not (tmp_path / "out").exists()


def test_generate_into_a_file_is_an_error(tmp_path):
    (tmp_path / "out").write_text("")
    assert run("generate", "scord-tiny", "-o", tmp_path / "out").exit_code == 2


def test_presets_lists_one_line_each():
    done = run("presets")
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.output.splitlines()] == [
        *PRESETS,
        *_LARGE_PRESETS,
    ]


def test_presets_shows_one():
    done = run("presets", "scord-tiny")
    assert done.exit_code == 0
    for text in ("lock_table_depth", "barrier_id", "lock_tables", "50.0% of the monitored data"):
        assert text in done.output


def test_presets_json():
    assert set(json.loads(run("presets", "--json", "-").stdout)) == {*PRESETS, *_LARGE_PRESETS}
    shown = json.loads(run("presets", "scord-tiny", "--json", "-").stdout)
    assert shown["parameters"]["ratio"] == 4
    assert shown["layouts"]["entry"]["width"] == 64
    assert {part["kind"] for part in shown["state_bits"]} > {"lock_tables", "fence_files"}


def test_presets_rejects_an_unknown_name():
    done = run("presets", "scord-big")
    assert done.exit_code == 2
    assert "Unknown preset" in done.output
