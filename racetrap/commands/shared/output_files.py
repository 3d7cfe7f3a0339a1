"""Output files of commands, which must be neither an input nor another output."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import click

from racetrap.commands.shared.input_files import NamedFiles

#: Key in the context's ``meta``: whether a result goes to standard output.
_TAKEN = "racetrap.standard-output"


class OutputFile(NamedFiles):
    """Path of an output file, refused at once if not writable, not after a long run.

    Parameters
    ----------
    path_type : type
        Type passed to the command: ``str`` or ``Path``.
    to_standard_output : bool
        Whether ``-`` means standard output.
    behind : str
        Separator before the file's name in the value, such as ``=``.
    companions : sequence of str
        Suffixes of further files written beside it.
    default : callable, optional
        Default file, from the values of the other parameters by name.
    """

    is_output = True

    def __init__(
        self, path_type: type = str, *, to_standard_output: bool = False, behind: str = "",
        companions: Sequence[str] = (),
        default: Callable[[Mapping[str, Any]], str | None] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(behind)
        self.to_standard_output = to_standard_output
        self._path_type, self._companions, self._default = path_type, companions, default

    def files(self, values: Sequence[str], others: Mapping[str, Any]) -> list[str]:
        """Files of these values, or the default."""
        if not values and self._default is not None:
            values = list(filter(None, [self._default(others)]))
        named = super().files(values, others)
        return [f"{file}{end}" for file in named for end in ("", *self._companions)]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        for file in super().files([str(value)], {}):
            if file == "-":
                if not self.to_standard_output:
                    self.fail("File must have a name, not -", param, ctx)
                continue
            path = Path(file)
            place = path if path.exists() else path.absolute().parent
            if path.is_dir() or not os.access(place, os.W_OK):
                self.fail(f"File must be one that can be written, not {file}", param, ctx)
        return self._path_type(value)


class OutputFolder(NamedFiles):
    """Path of an output folder, as ``Path``."""

    name = "directory"
    is_output = True

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if (path := Path(value)).exists() and not path.is_dir():
            self.fail(f"Folder must be one, not the file {value}", param, ctx)
        return path


def refuse_conflicts(
    context: click.Context, command: click.Command, words: Sequence[str], inputs: Sequence[str]
) -> None:
    """Refuse a command line that would overwrite one of its files by another, before reading any.

    Parameters
    ----------
    context : Context
        Context of the command's group.
    command : Command
        The command.
    words : sequence of str
        Its command line.
    inputs : sequence of str
        Further files that are read.

    Raises
    ------
    ValueError
        If an output is an input, or another output, also through links.
    """
    named = [("the file of defaults", file, False) for file in inputs]
    named += _named_files(context, command, words)
    context.meta[_TAKEN] = any(is_output and file == "-" for _, file, is_output in named)
    identities = [_identities(file) for _, file, _ in named]
    for (one, first), (other, second) in combinations(zip(named, identities, strict=True), 2):
        if (one[2] or other[2]) and first & second:
            output, beside = (one, other) if one[2] else (other, one)
            raise ValueError(
                f"{output[0]} and {beside[0]} must be different files, not both {output[1]}"
            )


def _named_files(
    context: click.Context, command: click.Command, words: Sequence[str]
) -> list[tuple[str, str, bool]]:
    """Files of a command line: the parameter, the file, and whether it is written."""
    own = click.Context(command, parent=context, info_name=command.name, **command.context_settings)
    try:
        given, _, _ = command.make_parser(own).parse_args(list(words))
    except click.UsageError:  # reported when click parses the line
        return []
    # Parameters that are not given name no files.
    given = {name: value for name, value in given.items() if isinstance(value, (str, list, tuple))}
    found = []
    for parameter in command.params:
        if isinstance(parameter.type, NamedFiles):
            value, _ = parameter.consume_value(own, given)
            many = isinstance(value, (list, tuple))
            values = [str(each) for each in value] if many else [value] * isinstance(value, str)
            found += [
                (_name(parameter, own), file, parameter.type.is_output)
                for file in parameter.type.files(values, given)
            ]
    return found


def _name(parameter: click.Parameter, context: click.Context) -> str:
    """Name of a parameter: an option as written, an argument by its first word."""
    if isinstance(parameter, click.Option):
        return parameter.opts[-1]
    return parameter.make_metavar(context).split()[0].rstrip(".").strip("[]")


def _identities(file: str) -> set[object]:
    """Keys shared by all names of a file; none for devices, which can be written twice."""
    found: set[object] = {file} if file == "-" else {os.path.realpath(file)}
    try:
        status = os.fstat(1) if file == "-" else os.stat(file)
    except (OSError, ValueError):
        return found
    if stat.S_ISCHR(status.st_mode):
        return found & {"-"}
    return found | {(status.st_dev, status.st_ino)}


def is_standard_output_taken() -> bool:
    """Whether a result goes to standard output, which must then contain nothing else."""
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(_TAKEN, False)
