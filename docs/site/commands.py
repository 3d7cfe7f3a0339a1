"""Reference of the command line, made from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator

import click

from docs.site.markdown import plain, table
from racetrap.cli import cli
from racetrap.commands.shared.subjects import SubjectCommand


def contexts(command: click.Command, parent: click.Context | None) -> Iterator[click.Context]:
    """Contexts of a command and of all commands below it, in the order of ``--help``."""
    context = click.Context(command, parent, command.name)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if (below := command.get_command(context, name)) is not None:
                yield from contexts(below, context)
    else:
        yield context


def _usage(context: click.Context) -> str:
    pieces = " ".join(context.command.collect_usage_pieces(context))
    return f"```\n{context.command_path} {pieces}\n```\n"


def _help(command: click.Command) -> str:
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    return re.sub(r"(?m)^ +", "", plain(text)) + "\n"


def _options(context: click.Context) -> str:
    """Options of a command, a table for each group of subjects that they are for."""
    command, sections = context.command, {"Options": context.command.params}
    if isinstance(command, SubjectCommand):
        pages = ["", *command.pages]
        sections = {head: each for page in pages for head, each in command.sections(page)}
    return "\n".join(
        ("" if heading == "Options" else f"{heading}:\n\n") + table(("option", "meaning"), rows)
        for heading, parameters in sections.items()
        if (rows := _rows(context, parameters))
    )


def _rows(context: click.Context, parameters: Iterable[click.Parameter]) -> list[tuple[str, str]]:
    records = (parameter.get_help_record(context) for parameter in parameters)
    return [(f"`{names}`", plain(text)) for names, text in filter(None, records) if text]


def commands_reference() -> str:
    """Usage, meaning and options of every command."""
    root = click.Context(cli, info_name="racetrap")
    commands = (
        context
        for name in cli.list_commands(root)
        if (command := cli.get_command(root, name)) is not None
        for context in contexts(command, root)
    )
    return "\n".join(
        part
        for context in commands
        for part in (
            f"## `{context.command_path}`\n",
            _usage(context),
            _help(context.command),
            _options(context),
        )
    )
