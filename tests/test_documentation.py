"""README and pages: the commands, options and files that they name exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

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


def test_commands_are_found():
    assert sum(1 for page in _PAGES for _ in _command_lines(page)) > 60
    assert _wrong("campaign --volum 3") == ["--volum"]
    assert _wrong("simulat scord") == ["simulat"]
    assert _wrong("bank.c --seed 3") == _wrong("scord") == []
