"""Reference of the command line: every command, every option, every exit status."""

import re
import signal

import click
import pytest

from docs.site.commands import commands_reference
from racetrap.cli import cli
from racetrap.commands.shared.terminal import ExitStatus
from tests.support import REPOSITORY

_ENDED = {128 + number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}


@pytest.fixture(scope="module")
def chapters():
    names_and_texts = re.split(r"(?m)^## `(racetrap [^`]+)`$", commands_reference())[1:]
    return dict(zip(names_and_texts[::2], names_and_texts[1::2], strict=True))


def _commands(command, name):
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for below in command.list_commands(context):
        yield from _commands(command.get_command(context, below), f"{name} {below}")


def test_every_command_has_a_chapter_with_every_option(chapters):
    commands = dict(_commands(cli, "racetrap"))
    assert list(chapters) == list(commands)
    for name, command in commands.items():
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                for option in parameter.opts:
                    assert option in chapters[name], (name, parameter)


def test_a_chapter(chapters):
    text = chapters["racetrap cache clear"]
    assert text.startswith("\n\n```\nracetrap cache clear [OPTIONS] [built|old|all]\n```\n")
    assert "\n| `--json FILE` | Write the result as JSON to FILE. " in text
    threads = chapters["racetrap check"].partition("Options for an exact check of threads:\n")[2]
    assert threads.startswith("\n| option | meaning |\n| --- | --- |\n| `--exact` | ")


def test_every_exit_status_is_explained():
    page = (REPOSITORY / "docs" / "command-line.md").read_text(encoding="utf-8")
    table = page.partition("| status | meaning |\n")[2].partition("\n\n")[0]
    shown = {int(number) for cell in re.findall(r"(?m)^\| ([\d, ]+) \|", table)
             for number in cell.split(",")}  # fmt: skip
    assert shown == set(ExitStatus) | _ENDED
