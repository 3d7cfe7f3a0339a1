"""Every output of every command onto every input, and onto every other output: refused before
anything is read, whatever links lead there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from racetrap.cli import cli
from racetrap.commands.shared.input_files import NamedFiles
from racetrap.commands.shared.output_files import OutputFile

#: Words of a parameter's form in ``--help`` that say it names a file or a folder.
_FILE_WORDS = {"FILE", "DIR", "TRACE", "KERNEL", "PROGRAM", "SPEC", "SOURCE", "TARGET"}
#: Folders in which files are looked for.
_SEARCHED = {"include"}
#: Commands that hand their command line to a compiler; PROGRAM of `evaluate` is one of ours.
_FOREIGN = {"cc", "c++", "nvcc"}


def _commands(command=cli, words=()):
    if not isinstance(command, click.Group):
        yield words, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from _commands(command.get_command(context, name), (*words, name))


_COMMANDS = {" ".join(words): (words, command) for words, command in _commands()}


def _label(parameter):
    if isinstance(parameter, click.Option):
        return parameter.opts[-1]
    return re.search("[A-Z|]+", parameter.metavar)[0]


def _pairs():
    """Each output of a command, with each of its inputs and each output behind it."""
    for name, (_, command) in _COMMANDS.items():
        files = [each for each in command.params if isinstance(each.type, NamedFiles)]
        for place, output in enumerate(files):
            if output.type.is_output:
                others = [
                    each for number, each in enumerate(files)
                    if not each.type.is_output or number > place
                    or (each is output and each.multiple)
                ]  # fmt: skip
                for other in others:
                    labels = _label(output), _label(other)
                    yield pytest.param(name, output, other, id=" ".join((name, *labels)))


def _words(parameter, file):
    """Parameter of a command line that names a file."""
    value = f"0={file}" if "=FILE" in (parameter.metavar or "") else str(file)
    return [parameter.opts[-1], value] if isinstance(parameter, click.Option) else [value]


def _line(name, output, other, one, two):
    """A command line with two files, and with a preset or a system before them if the command
    takes one."""
    words, command = _COMMANDS[name]
    files = {output.name: [one], other.name: [two]}
    if output is other:
        files[output.name] = [one, two]
    line = [*words]
    for parameter in sorted(command.params, key=lambda each: isinstance(each, click.Argument)):
        if isinstance(parameter, click.Argument) and parameter.name == "preset":
            line.append("scord-tiny")
        if isinstance(parameter, click.Argument) and parameter.name == "system":
            line.append("picorv32")
        for file in files.get(parameter.name, ()):
            line += _words(parameter, file)
    return line


def test_every_parameter_that_names_a_file_says_what_becomes_of_it():
    unknown = [
        f"{name}: {parameter.name}"
        for name, (_, command) in _COMMANDS.items()
        if name not in _FOREIGN and not name.startswith("evaluate ")
        for parameter in command.params
        if parameter.name not in _SEARCHED and not isinstance(parameter.type, NamedFiles)
        and _FILE_WORDS & set(re.findall("[A-Z]+", parameter.metavar or ""))
    ]  # fmt: skip
    assert unknown == []
    assert len(list(_pairs())) > 60


def _same_names(folder: Path):
    """Pairs of names of one file: itself, by another way, and by links; it is there or not."""
    (folder / "in").mkdir()
    (folder / "link").symlink_to("in", target_is_directory=True)
    there, new = folder / "in" / "there.trace", folder / "in" / "new.trace"
    there.write_text("kept")
    (folder / "soft").symlink_to(there)
    os.link(there, folder / "hard")
    (folder / "dangling").symlink_to(new)
    for name in (there, os.path.relpath(there), folder / "link" / there.name):
        yield there, name
    yield there, folder / "soft"
    yield folder / "hard", there
    yield folder / "soft", folder / "hard"
    yield new, folder / "link" / new.name
    yield folder / "dangling", new


@pytest.mark.parametrize(("name", "output", "other"), list(_pairs()))
def test_no_file_is_written_over_another(racetrap, tmp_path, monkeypatch, name, output, other):
    monkeypatch.chdir(tmp_path)
    both = f"{_label(output)} and {_label(other)} must be different files"
    pairs = list(_same_names(tmp_path))
    before = sorted(tmp_path.rglob("*"))
    for one, two in pairs:
        done = racetrap(*_line(name, output, other, one, two))
        assert (done.exit_code, done.stdout) == (2, "")
        assert f"racetrap: {both}, not both " in done.stderr, (one, two)
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "in" / "there.trace").read_text() == "kept"


@pytest.mark.parametrize(("name", "output", "other"), list(_pairs()))
def test_standard_output_takes_one_result(racetrap, tmp_path, name, output, other):
    if not (isinstance(output.type, OutputFile) and other.type.is_output):
        return
    done = racetrap(*_line(name, output, other, "-", "-"))
    assert done.exit_code == 2
    both = f"{_label(output)} and {_label(other)} must be different files"
    assert both in done.stderr


def test_a_pipe_is_refused_before_it_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # nobody writes to it, so that who opens it waits
    done = subprocess.run(
        [sys.executable, "-m", "racetrap", "check", pipe, "--json", pipe],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--json and TRACE|KERNEL must be different files" in done.stderr


@pytest.mark.parametrize("source", ["racy.c", "racy.trace"])
def test_default_output_is_an_output(racetrap, tmp_path, monkeypatch, source):
    """The trace of a source has its name; that of a program may be the program itself."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / source).write_text("kept")
    options = ("--json", "racy.trace") if source == "racy.c" else ()
    done = racetrap("trace", "record", *options, source)
    assert (done.exit_code, "must be different files" in done.stderr) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == [source]


def test_file_of_defaults_is_an_input(racetrap, racy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "racetrap.toml").write_text('[check]\njson = "racetrap.toml"\n')
    done = racetrap("check", racy)
    assert done.exit_code == 2
    assert "--json and the file of defaults must be different files" in done.stderr
    assert (tmp_path / "racetrap.toml").read_text().startswith("[check]")


def test_devices_take_everything(racetrap, racy):
    done = racetrap("-q", "check", racy, "--json", "/dev/null")
    assert (done.exit_code, done.output) == (1, "")


@pytest.mark.parametrize("form", ["html", "sarif", "xml", "github"])
def test_a_result_on_standard_output_is_alone(racetrap, racy, tmp_path, form):
    file, notes = tmp_path / f"file.{form}", tmp_path / "file.json"
    assert racetrap("check", racy, "--output", file, "--json", notes).exit_code == 1
    done = racetrap("check", racy, "--output", f"-.{form}")
    assert done.exit_code == 1
    assert done.stdout == file.read_text()
    assert ": race: " in done.stderr
