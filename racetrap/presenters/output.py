"""What the sub-commands share: exit status, errors, tables, progress and JSON output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

__all__ = [
    "ExitStatus",
    "fail",
    "input_errors",
    "json_option",
    "print_table",
    "progress",
    "progress_to",
    "report_console",
    "set_option",
    "size_option",
    "write_json",
]

_Item = TypeVar("_Item")


class ExitStatus(IntEnum):
    """Exit status of every sub-command."""

    NO_RACE = 0
    RACES = 1
    BAD_INPUT = 2
    FAILED = 3


def fail(message: object, status: ExitStatus = ExitStatus.BAD_INPUT) -> NoReturn:
    """Print one sentence on standard error and leave with ``status``."""
    click.echo(f"racetrap: {str(message).rstrip('.')}.", err=True)
    sys.exit(status)


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn an error in what the user gave (``ValueError``, ``TypeError``, ``OSError``) into
    one sentence and exit status 2.  Put only the reading of input inside."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            fail(error)
        fail(f"{error.filename}: {error.strerror}")
    except (ValueError, TypeError) as error:
        fail(error)


def json_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: the option ``--json FILE``, given to the command as ``json_file``."""
    return click.option(
        "--json",
        "json_file",
        metavar="FILE",
        help="Write the result as JSON to FILE; - is standard output, and then nothing else is.",
    )(function)


def set_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: the repeatable option ``--set NAME=VALUE``, given as tuple ``settings``."""
    return click.option(
        "--set",
        "settings",
        metavar="NAME=VALUE",
        multiple=True,
        help="Change one parameter; may be repeated.",
    )(function)


def size_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: the option ``--size``, the size of the applications' inputs."""
    return click.option(
        "--size",
        type=click.Choice(("tiny", "small", "paper")),
        default="tiny",
        show_default=True,
        help="Size of the applications' inputs.",
    )(function)


def write_json(json_file: str | None, data: Any) -> None:
    """Write ``data`` to the file that ``--json`` named, if it named one."""
    if json_file is None:
        return
    text = json.dumps(data, indent=2) + "\n"
    if json_file == "-":
        click.echo(text, nl=False)
        return
    with input_errors():
        Path(json_file).write_text(text, encoding="utf-8")


def report_console(json_file: str | None = None) -> Console:
    """Console for what people read: standard output, or standard error if JSON goes there."""
    return Console(stderr=json_file == "-", soft_wrap=True, highlight=False)


def print_table(
    console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Print a table; columns that hold only numbers are aligned to the right."""
    rows = [list(row) for row in rows]
    table = Table()
    for index, name in enumerate(columns):
        numbers = bool(rows) and all(isinstance(row[index], int | float) for row in rows)
        table.add_column(escape(name), justify="right" if numbers else "left")
    for row in rows:
        table.add_row(*(escape(str(cell)) for cell in row))
    # A title of the table itself would be wrapped to the table's width.
    console.print(title, markup=False, highlight=False)
    console.print(table, soft_wrap=False)


def progress(items: Iterable[_Item], description: str, total: int) -> Iterable[_Item]:
    """Iterate with a progress bar on standard error, shown only on a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return items
    from rich.progress import track  # slow to import, and seldom shown

    return track(items, description, total=total, console=console, transient=True)


@contextmanager
def progress_to(description: str, total: int) -> Iterator[Callable[[int], None]]:
    """What to tell how far it came, up to ``total``; a bar as that of :func:`progress`."""
    from rich.progress import Progress  # slow to import, and seldom shown

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(description, total=total)
        yield lambda reached: bar.update(task, completed=reached)
