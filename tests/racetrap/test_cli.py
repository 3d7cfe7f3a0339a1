"""The frame of the command line: lazy loading, usage errors and exit status."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from docs.site.commands import contexts
from racetrap import cli as cli_module
from racetrap.commands.shared.terminal import ExitStatus
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.verilator.build_cache import BuildError

#: Most options on one page of help, and of all commands together, `--help` not counted.
_MOST_ON_A_PAGE, _MOST_OPTIONS = 15, 186
_LEAVES = list(contexts(cli_module.cli, None))


@pytest.mark.parametrize("context", _LEAVES, ids=lambda context: context.command_path)
def test_no_page_of_help_is_long(racetrap, context):
    path = context.command_path.split()[1:]
    first, seen = racetrap(*path, "--help").stdout, set()
    for page in ["--help", *re.findall(r"(?m)^  (--help-\w+) ", first)]:
        shown = re.findall(r"(?m)^  (-.*?)(?=  |$)", racetrap(*path, page).stdout)
        options = [names for names in shown if "--help" not in names]
        assert len(options) <= _MOST_ON_A_PAGE, page
        seen |= {names.split()[0].strip(",") for names in options}
    declared = {p.opts[0] for p in context.command.params if isinstance(p, click.Option)}
    assert seen == declared


def test_there_are_few_options():
    counts = {
        context.command_path: sum(isinstance(each, click.Option) for each in context.command.params)
        for context in _LEAVES
    }
    assert sum(counts.values()) <= _MOST_OPTIONS, counts


def test_help_imports_no_command():
    code = (
        "import sys; from racetrap.cli import main; sys.argv[1:] = ['--help']\n"
        "try: main()\n"
        "finally: print([name for name in sys.modules if name in ('numpy', 'amaranth', 'cocotb')"
        " or name.startswith('racetrap.commands.') and '.shared' not in name], file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr.strip() == "[]"
    for name in cli_module._LINES:
        assert f"\n  {name} " in run.stdout


def test_doctor_runs_without_the_packages_that_it_looks_for():
    code = (
        "import sys; from racetrap.cli import main; sys.argv[1:] = ['doctor']\n"
        "try: main()\n"
        "finally: print([name for name in sys.modules if name in ('numpy', 'amaranth', 'cocotb')],"
        " file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == "[]\n"
    assert run.stdout.splitlines()[-1].startswith("Nothing is missing")


def test_version(racetrap):
    assert "version" in racetrap("--version").output


@pytest.mark.parametrize("arguments", [["nothing"], ["--nothing"], ["check"], ["trace", "no"]])
def test_usage_errors(racetrap, arguments):
    assert racetrap(*arguments).exit_code == ExitStatus.BAD_INPUT


@pytest.mark.parametrize("name", ["check", "doctor", "trace"])
def test_commands_load(racetrap, name):
    result = racetrap(name, "--help")
    assert result.exit_code == 0
    assert result.output.startswith("Usage: ")


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (BuildError("Command verilator failed:\nhere"), "Command verilator failed:\nhere."),
        (Mismatch("Bank 0"), "Hardware and golden model disagree: Bank 0."),
        (ModuleNotFoundError("No", name="serial"), "`serial` was not found: install the extra "),
        (ModuleNotFoundError("No", name="numpy"), "`numpy` was not found: install the project"),
    ],
)
def test_what_stops_a_run_is_one_sentence(racetrap, monkeypatch, error, sentence):
    def stop(*_):
        raise error

    monkeypatch.setattr("racetrap.commands.doctor.missing_tools", stop)
    result = racetrap("doctor")
    assert result.exit_code == ExitStatus.FAILED
    assert result.stderr.startswith(f"racetrap: {sentence}")


def test_errors_of_ours_are_not_hidden(racetrap, monkeypatch):
    def stop(*_):
        raise ValueError("A bug")

    monkeypatch.setattr("racetrap.commands.doctor.missing_tools", stop)
    with pytest.raises(ValueError, match="A bug"):
        racetrap("doctor")


def test_main_is_the_group():
    assert isinstance(cli_module.cli, click.Group)
    assert callable(cli_module.main)


@pytest.mark.parametrize("is_kept", [False, True])
def test_tools_have_a_cache_without_a_home(is_kept, tmp_path, monkeypatch):
    home, ours = tmp_path / "home", tmp_path / "ours"
    home.mkdir()
    if is_kept:
        ours.mkdir()
        ours.chmod(0o1777)
    else:
        ours.touch()  # no folder can be made there
    monkeypatch.setattr(cli_module.os, "access", lambda place, _: place != home)
    monkeypatch.setenv("RACETRAP_CACHE", str(ours))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
    cli_module.share_cache()
    given = Path(os.environ["XDG_CACHE_HOME"])
    assert given.is_relative_to(ours) is is_kept
    assert given.stat().st_mode & 0o777 == 0o700
    if is_kept:  # other users may make folders of theirs beside it
        shared = [each for each in given.parents if each.is_relative_to(ours)]
        assert len(shared) == 3
        assert {each.stat().st_mode & 0o1777 for each in shared} == {0o1777}


def test_home_that_can_be_written_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "not" / "there"))
    cli_module.share_cache()
    assert os.environ["XDG_CACHE_HOME"] == str(tmp_path / "not" / "there")
