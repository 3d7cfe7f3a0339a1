"""Options are spelt the same in every command, and refuse what would fail after a long run."""

import contextlib
import importlib
import os
import pkgutil
import subprocess
import sys

import click
import pytest

import racetrap.commands
from racetrap.cli import cli
from racetrap.commands.shared.lazy_group import LazyGroup
from tests.load import COMMANDS

#: The one spelling of what several commands have, by the parameter's name.
_SPELLINGS = {
    "json_file": ["--json"], "settings": ["--set"], "seed": ["--seed"],
    "size": ["--size"], "output": ["-o", "--output"], "form": ["--to"],
    "launch_file": ["--launch"], "detector": ["--detector"],
    "schedules": ["--schedules"], "budget": ["--budget"], "oracle": ["--oracle"],
    "memory": ["--memory"],
}  # fmt: skip
_OTHER_SPELLINGS = {"--out", "--workers", "--processes", "-j", "--blocks", "--hardware"}


def _commands():
    for module in pkgutil.iter_modules(racetrap.commands.__path__):
        if not module.ispkg:
            found = importlib.import_module(f"racetrap.commands.{module.name}").command
            if not isinstance(found, LazyGroup):
                yield module.name, found


@pytest.mark.parametrize(("name", "command"), list(_commands()))
def test_spellings(name, command):
    options = [each for each in command.params if isinstance(each, click.Option)]
    for option in options:
        assert option.opts == _SPELLINGS.get(option.name, option.opts)
        assert not _OTHER_SPELLINGS & set(option.opts)
        assert option.help, option.opts
        assert option.help.endswith((".", "]")), option.opts


@pytest.mark.parametrize("words", [[str(word) for word in words] for words, _ in COMMANDS])
def test_commands_of_make_load_have_the_options_that_there_are(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    command, name, context = cli, "racetrap", None
    words = list(words)
    while isinstance(command, click.Group):
        context = click.Context(command, parent=context)
        if words[0].startswith("-"):
            break
        command, name = command.get_command(context, words[0]), words.pop(0)
    with contextlib.suppress(click.exceptions.Exit):  # of --help
        command.make_context(name, words, parent=context)


@pytest.mark.parametrize(("option", "end"), [("--json", ""), ("--output", ".html")])
def test_file_that_cannot_be_written(racetrap, tmp_path, option, end):
    (folder := tmp_path / f"folder{end}").mkdir()
    for place in (folder, tmp_path / "no" / f"file{end}"):
        result = racetrap("cost", "scord-tiny", "--seeds", 0, option, place)
        assert result.exit_code == 2
        assert f"File must be one that can be written, not {place}" in result.stderr
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("racetrap che", ["check"]),
        ("racetrap generate scord-b", ["scord-banks4"]),
        ("racetrap check --detector sigrace-t", ["sigrace-tiny"]),
        ("racetrap cost scord sigrace-t", ["sigrace-tiny"]),
        ("racetrap run --exp", ["--expt-extended-lambda", "--expt-relaxed-constexpr"]),
    ],
)
def test_completion(words, found):
    environment = {
        **os.environ, "_RACETRAP_COMPLETE": "bash_complete", "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", "from racetrap.cli import main; main()"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert [line.partition(",")[2] for line in done.stdout.splitlines()] == found
