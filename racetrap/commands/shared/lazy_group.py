"""Groups of commands that are imported only when called."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

import click

from racetrap.commands.shared.configuration import DEFAULTS_FILE, command_defaults
from racetrap.commands.shared.former_names import WORDS
from racetrap.commands.shared.output_files import refuse_conflicts
from racetrap.commands.shared.terminal import ExitStatus, fail, input_errors
from racetrap.sim.tools import not_found


class LazyGroup(click.Group):
    """Group whose command ``name`` is ``command`` of the module ``prefix + name`` (of c++: cxx).

    Parameters
    ----------
    prefix : str
        Beginning of the modules' names.
    lines : mapping of str to str
        Line of each command in ``--help``, so that its module is not imported for it.
    extras : mapping of str to str
        Extra of our package that a command needs, if the first missing import may belong to a
        smaller one.
    """

    def __init__(
        self, *, prefix: str, lines: Mapping[str, str],
        extras: Mapping[str, str] = MappingProxyType({}), **attributes: Any,
    ) -> None:  # fmt: skip
        super().__init__(**attributes)
        self._prefix, self.lines, self._extras = prefix, lines, extras

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lines:
            return None
        try:
            module = importlib.import_module(self._prefix + cmd_name.replace("+", "x"))
        except ModuleNotFoundError as error:
            self._fail(error, cmd_name)
        command: click.Command = module.command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ModuleNotFoundError as error:  # some commands import what an extra brings late
            self._fail(error, ctx.invoked_subcommand or "")

    def _fail(self, error: ModuleNotFoundError, name: str) -> NoReturn:
        """End with the extra that a command lacks."""
        missing, extra = error.name or str(error), self._extras.get(name, "")
        fail(not_found(missing, extra), ExitStatus.FAILED)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.lines and not name.startswith("-"):
            near = difflib.get_close_matches(name, self.lines)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise click.UsageError(f"No such command '{name}'.{hint}", ctx)
        found, command, rest = super().resolve_command(ctx, args)
        if command is not None and not isinstance(command, click.Group):
            table = (ctx.default_map or {}).get(name, {})
            with input_errors():
                ctx.default_map = {name: command_defaults(command, table)}
                ctx.meta[WORDS] = tuple(rest)
                refuse_conflicts(ctx, command, rest, ctx.meta.get(DEFAULTS_FILE, ()))
        return found, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lines.items()))


def lazy_group(
    name: str, lines: Mapping[str, str], **attributes: Any
) -> Callable[[Callable[..., Any]], click.Group]:
    """Decorator: the group ``name`` with the commands of modules ``<name>_<command>``."""
    prefix = f"racetrap.commands.{name}_"
    return click.group(name, cls=LazyGroup, prefix=prefix, lines=lines, **attributes)
