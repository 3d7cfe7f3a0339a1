"""Defaults of options from files: found, checked, and behind the command line."""

import json
import re

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    inner = tmp_path / "project" / "inner"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    return inner


def _events(racetrap, trace, *options):
    done = racetrap("check", trace, *options, "--json", "-")
    assert done.exit_code in (0, 1), done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("place", "name", "head"),
    [
        (".", "racetrap.toml", ""),
        ("..", "racetrap.toml", ""),
        ("..", "pyproject.toml", "tool.other.x = 1\n[tool.racetrap]\n"),
    ],
)
def test_defaults(racetrap, racy, folder, place, name, head):
    prefix = "tool.racetrap." if head else ""
    (folder / place / name).write_text(
        f'{head}[{prefix}check]\ndetector = "scord-nocache"\nset = ["sm_count=4"]\n'
        f"[{prefix}trace.record]\nseed = 3\n"
    )
    found = _events(racetrap, racy)
    assert (found["preset"], found["parameters"]["sm_count"]) == ("scord-nocache", 4)
    assert _events(racetrap, racy, "--detector", "scord")["preset"] == "scord"


def test_own_file_goes_first(racetrap, racy, folder):
    (folder / "pyproject.toml").write_text('[tool.racetrap.check]\ndetector = "scord-nocache"\n')
    (folder / "racetrap.toml").write_text('[check]\ndetector = "scord-8byte"\n')
    assert _events(racetrap, racy)["preset"] == "scord-8byte"


def test_commands_of_a_group(racetrap, folder):
    (folder / "racetrap.toml").write_text("[cache.info]\njson = '-'\n")
    assert "holdings" in json.loads(racetrap("cache", "info").stdout)


def test_number_of_processes_is_of_all_commands(racetrap, folder, monkeypatch):
    (folder / "racetrap.toml").write_text("jobs = 3\n[fuzz]\nbudget = 2\n")
    counts = []
    monkeypatch.setattr(
        "racetrap.commands.fuzz.run_parallel", lambda *given: counts.append(given[2]) or []
    )
    for options in ([], ["--jobs", "4"]):
        assert racetrap(*options, "fuzz", "coverage").exit_code == 0
    assert counts == [3, 4]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[chek]\n", "racetrap.toml: Table must be a command, not chek"),
        (
            "[check]\npresets = 1\n",
            "Unknown key of check 'presets'",
        ),
        (
            "[check]\npreset = 1\n",
            "Key 'preset' of check is now --detector",
        ),
        ("[campaign]\njobs = 1\n", "Key 'jobs' of campaign is now a key before all tables"),
        ("jobs = 0\n", "Invalid value for '--jobs'"),
        ("[check]\nnvcc = ['-DA', '-stdd']\n", "Unknown option of nvcc '-stdd': did you mean"),
        ("[check]\nhelp = true\n", "Unknown key of check 'help'"),
        ("[check]\ndetector = [1]\n", "check.detector must be a number or a word, not"),
        ("[check]\nset = [[1]]\n", "check.set must be a list of numbers or words, not"),
        ("[check]\nlimit = 'x'\n", "Invalid value for '--limit'"),
        ("check = 1\n", "Defaults of check must be a table, not 1"),
        ("[", "racetrap.toml: not TOML: "),
        ("x = " + "[" * 5000, "racetrap.toml: TOML is nested too deeply"),
        ("x = " + "9" * 5000, "racetrap.toml: not TOML: "),
    ],
)
def test_wrong_files(racetrap, racy, folder, text, said):
    (folder / "racetrap.toml").write_text(text)
    done = racetrap(*(["campaign"] if "campaign" in text else ["check", racy]))
    assert done.exit_code == 2
    assert re.search(said, done.stderr), done.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["chekc"], "Did you mean check or cache?"),
        (["trace", "inof"], "Did you mean info?"),
        (["check", "--jso", "x"], "--json"),
        (["zzzz"], "No such command 'zzzz'."),
    ],
)
def test_did_you_mean(racetrap, words, hint):
    done = racetrap(*words)
    assert done.exit_code == 2
    assert hint in done.stderr
