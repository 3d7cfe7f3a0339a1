"""Groups of commands that are imported only when they are called."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import click

__all__ = ["LazyGroup", "lazy_group"]


class LazyGroup(click.Group):
    """Group whose command ``name`` is ``command`` of the module ``prefix + name`` (of c++: cxx).

    Parameters
    ----------
    prefix : str
        Beginning of the modules' names.
    lines : mapping of str to str
        Line of each command in ``--help``, so that its module need not be imported.
    """

    def __init__(self, *, prefix: str, lines: Mapping[str, str], **attributes: Any) -> None:
        super().__init__(**attributes)
        self._prefix, self.lines = prefix, lines

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lines:
            return None
        command: click.Command = importlib.import_module(
            self._prefix + cmd_name.replace("+", "x")
        ).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lines.items()))


def lazy_group(name: str, lines: Mapping[str, str]) -> Callable[[Callable[..., Any]], click.Group]:
    """Decorator: the group ``name`` with the commands of modules ``<name>_<command>``."""
    return click.group(name, cls=LazyGroup, prefix=f"racetrap.commands.{name}_", lines=lines)
