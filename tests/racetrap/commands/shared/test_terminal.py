"""Sentences on standard error with an exit status, and files of results."""

import sys
from contextlib import nullcontext
from importlib.machinery import ModuleSpec
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner

from racetrap.commands.shared import terminal
from racetrap.commands.shared.ending import ends
from racetrap.commands.shared.terminal import (
    ExitStatus,
    InputError,
    fail,
    input_errors,
    progress,
    progress_bar,
    quiet,
    report_console,
    working,
    write_json,
)


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
    with pytest.raises(SystemExit) as caught, ends(), input_errors():
        raise error
    assert caught.value.code == 2
    assert capsys.readouterr().err == f"racetrap: {words}\n"


def test_input_errors_name_the_file_once():
    with pytest.raises(InputError) as caught, input_errors("y.trace"), input_errors("x.trace"):
        raise ValueError("Event 3: Size must be 4")
    assert str(caught.value) == "x.trace: Event 3: Size must be 4"


def test_json_to_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        write_json(str(tmp_path / "no" / "x.json"), {})


@pytest.mark.parametrize("is_quiet", [False, True])
def test_quiet_silences_report_and_progress(is_quiet, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, for the progress bar
    seen = []

    @click.command()
    @click.option("--quiet", is_flag=True, expose_value=False, callback=quiet)
    def command():
        report_console().print("found")
        seen.extend(progress([1, 2], "Checking", 2))
        with progress_bar("Building", 5) as update:
            update(advance=5)
        click.echo("an error", err=True)

    result = CliRunner().invoke(command, ["--quiet"] * is_quiet)
    assert seen == [1, 2]
    assert result.stdout == ("" if is_quiet else "found\n")
    assert ("Checking" in result.stderr and "Building" in result.stderr) is not is_quiet
    assert "an error\n" in result.stderr
    assert ("5/5" in result.stderr) is not is_quiet


class _Output(nullcontext):
    """A widget that takes what is displayed in it."""

    def clear_output(self, wait=False):
        pass

    def close(self):
        pass


@pytest.mark.parametrize("has_widgets", [True, False])
def test_a_notebook_shows_progress_if_it_has_widgets(has_widgets, monkeypatch, recwarn):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    shown = []
    modules = {"IPython.display": SimpleNamespace(display=shown.append)}
    if has_widgets:
        modules["ipywidgets"] = SimpleNamespace(
            Output=_Output, __spec__=ModuleSpec("ipywidgets", None)
        )
    else:
        monkeypatch.setattr(terminal, "find_spec", lambda name: None)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    assert list(progress([1, 2], "Checking", 2)) == [1, 2]
    with working("Compiling"):
        pass
    assert bool(shown) is has_widgets
    assert [str(each.message) for each in recwarn] == []


def test_no_colours_if_none_are_wanted(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")

    @click.command()
    def command():
        report_console().print("[red]found[/red]")

    assert CliRunner().invoke(command).stdout == "found\n"
