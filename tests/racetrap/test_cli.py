"""The frame of the command line: lazy loading, usage errors and exit status."""

import subprocess
import sys

import click
import pytest

from racetrap import cli as cli_module
from racetrap.presenters.output import (
    ExitStatus,
    fail,
    input_errors,
    print_table,
    report_console,
    write_json,
)


def test_help_imports_no_command():
    code = (
        "import sys; from racetrap.cli import main; sys.argv[1:] = ['--help']\n"
        "try: main()\n"
        "finally: print([name for name in sys.modules if name in ('numpy', 'amaranth', 'cocotb')"
        " or name.startswith('racetrap.commands.')], file=sys.stderr)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr.strip() == "[]"
    for name in cli_module._COMMANDS:
        assert f"\n  {name} " in run.stdout


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


def test_command_that_cannot_be_loaded(racetrap, monkeypatch):
    monkeypatch.setitem(cli_module._COMMANDS, "absent", "Nothing.")
    result = racetrap("absent")
    assert result.exit_code == ExitStatus.FAILED
    assert result.stderr.startswith("racetrap: Command 'absent' cannot be loaded: ")


def test_fail(capsys):
    with pytest.raises(SystemExit) as caught:
        fail(ValueError("Depth must be even, not 3."), ExitStatus.FAILED)
    assert caught.value.code == 3
    assert capsys.readouterr().err == "racetrap: Depth must be even, not 3.\n"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("Size must be 4, not 3"), "Size must be 4, not 3."),
        (FileNotFoundError(2, "No such file or directory", "x"), "x: No such file or directory."),
        (OSError("strange"), "strange."),
    ],
)
def test_input_errors(capsys, error, words):
    with pytest.raises(SystemExit) as caught, input_errors():
        raise error
    assert caught.value.code == 2
    assert capsys.readouterr().err == f"racetrap: {words}\n"


def test_json_to_a_folder_that_is_not_there(tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        write_json(str(tmp_path / "no" / "x.json"), {})
    assert caught.value.code == 2
    assert "No such file" in capsys.readouterr().err


def test_table_prints_brackets_as_they_are(capsys):
    print_table(report_console(), "[title]", ["[a]", "n"], [["[red]x", 1], ["y", 22]])
    output = capsys.readouterr().out
    assert "[title]" in output
    assert "[red]x" in output
    assert "│  1 │" in output


def test_main_is_the_group():
    assert isinstance(cli_module.cli, click.Group)
    assert callable(cli_module.main)
