"""Former names of options: the error says the new one."""

import re

import click
import pytest

from racetrap.cli import cli
from racetrap.commands.shared.former_names import _SUCCESSORS
from tests.support import REPOSITORY


def _names(command):
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from _names(command.get_command(context, name))
    else:
        for parameter in command.params:
            yield from parameter.opts


def test_no_option_is_a_former_one():
    of_others = {"--board", "--to"}  # `fpga build` and `trace convert` have them still
    assert not set(_names(cli)) & set(_SUCCESSORS) - of_others


#: Names of options of others' tools, which we call, and of options before the command.
_OF_TOOLS = {"--trace", "--quiet", "-q", "--jobs"}


def test_no_sentence_and_no_page_has_a_former_name():
    rooms = ("racetrap", "golden_model", "sim", "generators", "fpga", "evaluation", "docs")
    former = "|".join(sorted(set(_SUCCESSORS) - _OF_TOOLS - {"--board", "--to"}, key=len)[::-1])
    names = re.compile(rf"(?<![\w-])({former})(?![\w-])")
    found = [
        f"{path}: {name}"
        for room in rooms
        for path in (REPOSITORY / room).rglob("*")
        if path.suffix in (".py", ".md") and path.name != "former_names.py"
        and not path.is_relative_to(REPOSITORY / "racetrap" / room)
        for name in names.findall(path.read_text(encoding="utf-8", errors="replace"))
    ]  # fmt: skip
    assert found == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["presets", "-q"], "No such option '-q', which is now an option before the command"),
        (
            ["evaluate", "scord", "--jobs", "2"],
            "now an option before the command: racetrap --jobs N evaluate scord.\n",
        ),
        (["presets", "--jsno"], "No such option '--jsno'. Did you mean '--json'?"),
        (["presets", "--zebra"], "No such option '--zebra'.\n"),
        (
            ["campaign", "--volume", "3"],
            "No such option '--volume', which is now --budget.",
        ),
    ],
)
def test_error_says_the_new_name(racetrap, words, sentence):
    result = racetrap(*words)
    assert result.exit_code == 2
    assert sentence in result.output
