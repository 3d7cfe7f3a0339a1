"""Terminal of a command: exit status, errors, consoles, progress bars, files of results."""

from __future__ import annotations

import codecs
import errno
import io
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from enum import IntEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click
from rich.console import Console
from rich.text import Text

from racetrap.commands.shared.input_files import given_name
from racetrap.commands.shared.output_files import is_standard_output_taken
from racetrap.golden_model.atomic_write import atomic_write
from racetrap.presenters.json_array import SupportsWrite, write_document
from racetrap.presenters.printable import printable

if TYPE_CHECKING:
    from rich.progress import Progress

    from racetrap.sim.gpu.executor.machine.launch import Launch


#: System errors not caused by an input.
_OF_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EPIPE, errno.EBADF)
#: Minimum width: tables are not squeezed into a narrow terminal or log.
_WIDTH = 200
#: Key of ``--quiet`` in the context's ``meta``.
_QUIET = "racetrap.quiet"
_Item = TypeVar("_Item")


class _Report(Console):
    """Console whose reader may close it before the end."""

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    def print(self, *objects: Any, **options: Any) -> None:
        shown = [printable(each) if isinstance(each, str) else each for each in objects]
        super().print(*shown, **options)


class ExitStatus(IntEnum):
    """Exit status of every command."""

    NO_RACE = 0
    RACES = 1
    BAD_INPUT = 2
    FAILED = 3
    CRASHED = 70
    NO_OUTPUT = 74
    INTERRUPTED = 130


class InputError(ValueError):
    """An input is wrong: a command prints the sentence and ends with status 2."""


def fail(message: object, status: ExitStatus = ExitStatus.BAD_INPUT) -> NoReturn:
    """Print one sentence on standard error and exit with ``status``."""
    complain(message)
    sys.exit(status)


def complain(message: object) -> None:
    """Print one sentence on standard error."""
    text = printable(given_name(str(message)).rstrip("."))
    click.echo(f"racetrap: {text}{'' if text.endswith('?') else '.'}", err=True)


def exit_on(findings: object) -> NoReturn:
    """Exit with the status of a check: 1 if there are races or other findings."""
    sys.exit(ExitStatus.RACES if findings else ExitStatus.NO_RACE)


@contextmanager
def input_errors(place: str | None = None) -> Iterator[None]:
    """Turn an error in the user's input (``ValueError``, ``TypeError``, ``OSError``) into an
    ``InputError``, which ends a command by one sentence and exit status 2.

    Only the reading of input belongs inside.

    Parameters
    ----------
    place : str or None
        File that a ``ValueError`` is about, if its text does not name it.
    """
    try:
        with _system_errors():
            yield
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        raise InputError(error if place is None else f"{place}: {error}") from error


@contextmanager
def _system_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _OF_OUTPUT:
            raise  # and ends the command like any unwritable result
        raise InputError(problem_of(error)) from error


def problem_of(error: Exception) -> str:
    """Sentence on an error in an input."""
    if not isinstance(error, OSError):
        return str(error)
    reason = error.strerror or str(error)
    return reason if error.filename is None else f"{error.filename}: {reason}"


def command_line() -> str:
    """Command line of the running command."""
    return shlex.join(["racetrap", *sys.argv[1:]])


def quiet(context: click.Context, parameter: click.Parameter, is_on: bool) -> None:
    """Callback of ``--quiet``: silences consoles and progress bars of this call."""
    context.meta[_QUIET] = is_on


def _is_quiet() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and context.meta.get(_QUIET, False)


def report_console() -> Console:
    """Console for people: standard output, or standard error if a result goes there; silent with
    ``--quiet``."""
    console = _Report(
        stderr=is_standard_output_taken(), soft_wrap=True, highlight=False, quiet=_is_quiet()
    )
    console.width = max(console.width, _WIDTH)
    return console


def kept_console() -> Console:
    """Console whose text is kept, without colours, in its ``file``."""
    return _Report(
        file=io.StringIO(), soft_wrap=True, highlight=False, width=_WIDTH, color_system=None,
        force_terminal=False, force_jupyter=False,
    )  # fmt: skip


def write_json(json_file: str | None, data: Any) -> None:
    """Write ``data`` to the file of ``--json``, if there is one."""
    if json_file is not None:
        with _result_file(json_file) as file:
            write_document(file, data)


def write_file(file: str | None, make: Callable[[], str]) -> None:
    """Write a text to an option's file, if there is one."""
    if file is not None:
        text = make()
        with _result_file(file) as target:
            target.write(text)


@contextmanager
def _result_file(file: str) -> Iterator[SupportsWrite]:
    """Open an option's target: standard output, or a file that appears once complete."""
    if file == "-":
        yield sys.stdout
        sys.stdout.flush()
        return
    with _system_errors(), atomic_write(file) as target:
        # Source lines may have another encoding: they are written as they were read.
        yield codecs.getwriter("utf-8")(target, "surrogateescape")


def progress(items: Iterable[_Item], description: str, total: int) -> Iterable[_Item]:
    """Iterate with a progress bar as :func:`progress_bar`'s."""
    console = _progress_console()
    if console is None:
        return items
    return _tracked(items, description, total, console)


def _tracked(
    items: Iterable[_Item], description: str, total: int, console: Console
) -> Iterator[_Item]:
    with _bar(console) as bar:
        yield from bar.track(items, total=total, description=description)


@contextmanager
def progress_bar(description: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """Progress bar with time passed, rate and time left, on standard error if it is a terminal.

    Yields a function that updates it, with the arguments of ``rich.progress.Progress.update``, such
    as ``advance=1``.
    """
    console = _progress_console()
    if console is None:
        yield lambda **changes: None
        return
    with _bar(console) as bar:
        task = bar.add_task(description, total=total)
        yield lambda **changes: bar.update(task, **changes)


def _progress_console() -> Console | None:
    """Console of progress bars, if they are shown: on a terminal, and in a notebook with widgets,
    without which rich warns of them in each cell."""
    console = Console(stderr=True)
    has_widgets = console.is_jupyter and find_spec("ipywidgets") is not None
    return None if _is_quiet() or not (console.is_terminal or has_widgets) else console


@contextmanager
def working(what: str) -> Iterator[None]:
    """A sign of life while something runs whose length is not known, where progress is shown."""
    console = _progress_console()
    with console.status(what) if console is not None else nullcontext():
        yield


@contextmanager
def launch_bar(launch: Launch) -> Iterator[Callable[[], object]]:
    """Progress bar of a launch, in blocks, once it has run for a moment."""
    from racetrap.sim.gpu.ptx.kernel_names import written_name

    with ExitStack() as stack:
        update: Callable[..., None] | None = None

        def report() -> None:
            nonlocal update
            if update is None:
                update = stack.enter_context(progress_bar("Running", launch.block_count))
            name = written_name(launch.kernel_name)
            update(
                completed=launch.ended_blocks,
                description=f"Running {name}: {launch.executed:,} warp instructions; blocks",
            )

        yield report


def _bar(console: Console) -> Progress:
    from rich import progress as parts  # slow to import, and seldom shown

    class Rate(parts.ProgressColumn):
        def render(self, task: parts.Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text(f"{speed:,.3g}/s" if speed and task.total else "")

    columns = (
        parts.TextColumn("{task.description}"), parts.BarColumn(), parts.MofNCompleteColumn(),
        parts.TimeElapsedColumn(), Rate(), parts.TimeRemainingColumn(),
    )  # fmt: skip
    return parts.Progress(*columns, console=console, transient=True)
