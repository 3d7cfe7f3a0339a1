"""README and pages: the commands, options and files that they name exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec

import click
import pytest

from racetrap.cli import cli
from racetrap.generators.presets import PRESETS
from tests.support import REPOSITORY

_PAGES = ("README.md", "CONTRIBUTING.md", *sorted(str(page.relative_to(REPOSITORY)) for page in
          (REPOSITORY / "docs").rglob("*.md")))  # fmt: skip
#: A command line as an inline quotation, as a line of a code block, or in a table.
_COMMAND = re.compile(r"(?:^|[`/(]|\s{4})racetrap ((?:[a-z][a-z-]* ?)+[^`#\n]*)", re.MULTILINE)
#: A quoted path in one of our folders, without wildcards.
_FILE = re.compile(
    r"`((?:docs|evaluation|fpga|generators|golden_model|racetrap|rtl|sim|tb|tests)/[\w./-]*)`"
)

#: Modules that are called, and targets of make.
_MODULE = re.compile(r"python -m ((?:racetrap|tests|docs)(?:\.\w+)+)")
_TARGET = re.compile(r"(?:`|^    |^)make ([a-z][a-z-]*)", re.MULTILINE)


def _command_lines(page: str) -> Iterator[str]:
    text = (REPOSITORY / page).read_text(encoding="utf-8").replace("\\\n", " ")
    yield from _COMMAND.findall(text)


def _wrong(line: str) -> list[str]:
    """Words of a command line that the program does not know."""
    words = line.split()
    if "." in words[0] or words[0] in PRESETS:  # the front door
        return []
    context = click.Context(cli)
    command: click.Command = cli
    while words and isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        if found is None:
            return words[:1]
        command = found
        words.pop(0)
    parameters = command.get_params(click.Context(command))
    known = {name for parameter in parameters for name in parameter.opts} | {"-h"}
    options = re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", " ".join(words).split(" -- ")[0])
    return [option for option in options if option not in known]


@pytest.mark.parametrize("page", _PAGES)
def test_files_of_a_page(page):
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    for name in _FILE.findall(text):
        assert (REPOSITORY / name).exists()


@pytest.mark.parametrize("page", _PAGES)
def test_commands_of_a_page(page):
    wrong = {line: words for line in _command_lines(page) if (words := _wrong(line))}
    assert not wrong


@pytest.mark.parametrize("page", _PAGES)
def test_modules_and_targets_of_a_page(page):
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    for module in _MODULE.findall(text):
        assert find_spec(module), module
    for target in _TARGET.findall(text):
        assert f"\n{target}: " in makefile or f"\n{target}:\n" in makefile, target


def test_modules_and_targets_are_found():
    text = "".join((REPOSITORY / page).read_text(encoding="utf-8") for page in _PAGES)
    assert len(set(_MODULE.findall(text))) > 8
    assert {"test", "board-simulation"} < set(_TARGET.findall(text))


def test_commands_are_found():
    assert sum(1 for page in _PAGES for _ in _command_lines(page)) > 60
    assert _wrong("campaign --volum 3") == ["--volum"]
    assert _wrong("simulat scord") == ["simulat"]
    assert _wrong("bank.c --seed 3") == _wrong("scord") == []
