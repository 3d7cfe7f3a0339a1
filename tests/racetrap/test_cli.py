"""The frame of the command line: lazy loading, usage errors and exit status."""

import re
import subprocess
import sys

import click
import pytest

from docs.site.commands import contexts
from racetrap import cli as cli_module
from racetrap.commands.shared.terminal import ExitStatus
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.verilator.build_cache import BuildError

#: Most options on one page of help, and of all commands together, `--help` not counted.
_MOST_ON_A_PAGE, _MOST_OPTIONS = 32, 226
_LEAVES = list(contexts(cli_module.cli, None))


@pytest.mark.parametrize("context", _LEAVES, ids=lambda context: context.command_path)
def test_no_page_of_help_is_long(racetrap, context):
    path = context.command_path.split()[1:]
    page = racetrap(*path, "--help").stdout
    shown = re.findall(r"(?m)^  -.*?(?=  |$)", page)
    assert len([names for names in shown if "--help" not in names]) <= _MOST_ON_A_PAGE


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
    assert (run.stdout, run.stderr) == ("Nothing is missing.\n", "[]\n")


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
