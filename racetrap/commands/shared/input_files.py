"""Files that commands read: on disk, from standard input as `-`, or from a pipe."""

from __future__ import annotations

import errno
import os
import select
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import IO, Any

import click
from click.shell_completion import CompletionItem

#: Limit for a pipe, whose size is unknown until its end.
_MOST_BYTES = 1 << 30
_CHUNK_BYTES = 1 << 16
#: Seconds that a pipe may be without a writer, and between polls.
_WRITER_SECONDS = 60.0
_LOOK_SECONDS = 0.1
#: Names given by the user, by the paths of the copies.
_GIVEN: dict[str, str] = {}


class NamedFiles(click.ParamType):
    """Value that names a file.

    Parameters
    ----------
    behind : str
        Separator before the file's name in the value, such as ``=``.

    Attributes
    ----------
    is_output : bool
        Whether it is written.
    """

    name = "file"
    is_output = False

    def __init__(self, behind: str = "") -> None:
        self._behind = behind

    def files(self, values: Sequence[str], others: Mapping[str, Any]) -> list[str]:
        """Files of the parameter's values; several or none are possible.

        Parameters
        ----------
        values : sequence of str
            The values, as given.
        others : mapping of str to object
            Values of all parameters by name, as given.
        """
        if self._behind:
            values = [value.partition(self._behind)[2] for value in values]
        return [value for value in values if value and (self.is_output or value != "-")]


class InputFile(NamedFiles):
    """Path of a file to be read; a pipe is first copied into a temporary file."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        value = str(value)
        if value == "-":
            try:
                return self._copy(sys.stdin.buffer, value, param, ctx)
            except OSError as error:
                if error.errno != errno.EBADF:
                    raise
                self.fail("Standard input must be open, not closed", param, ctx)
        try:
            mode = Path(value).stat().st_mode
        except (OSError, ValueError):
            return value  # the reader reports the error
        if stat.S_ISFIFO(mode):
            with open(value, "rb", opener=_open_at_once) as pipe:
                first = _first_bytes(pipe)
                if first is None:
                    self.fail(
                        f"Pipe {value} must have a writer within {_WRITER_SECONDS:.0f} s: start "
                        "the program that writes it", param, ctx,
                    )  # fmt: skip
                return self._copy(pipe, value, param, ctx, first)
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            self.fail(f"Input must be a file or a pipe, not the device {value}", param, ctx)
        return value

    def _copy(
        self, source: IO[bytes], given: str, param: click.Parameter | None,
        ctx: click.Context | None, first: bytes = b"",
    ) -> str:  # fmt: skip
        folder = tempfile.mkdtemp(prefix="racetrap-")
        if ctx is not None:
            ctx.call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
        # Some readers recognise the file by its suffix.
        path = Path(folder, "input" if given == "-" else Path(given).name)
        _GIVEN[str(path)] = given
        left = _MOST_BYTES
        parts = chain([first], iter(lambda: source.read(_CHUNK_BYTES), b""))
        with path.open("wb") as target, _progress(f"Reading {given}, bytes") as update:
            for data in parts:
                left -= len(data)
                update(advance=len(data))
                if left < 0:
                    self.fail(
                        f"Pipe must have at most {_MOST_BYTES} bytes, not more; a file may be "
                        "larger", param, ctx,
                    )  # fmt: skip
                target.write(data)
        return str(path)


class NameOrFile(InputFile):
    """Name of something known, or path of a file to be read; ``./NAME`` is a file of that name.

    Parameters
    ----------
    names : iterable of str
        What is known.
    """

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__()
        self._names = tuple(names)

    def files(self, values: Sequence[str], others: Mapping[str, Any]) -> list[str]:
        return super().files([value for value in values if value not in self._names], others)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return str(value) if value in self._names else super().convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        names = [CompletionItem(name) for name in self._names if name.startswith(incomplete)]
        return [*names, CompletionItem(incomplete, type="file")]


def _open_at_once(path: str, flags: int) -> int:
    """Opener that does not wait for a pipe's writer."""
    return os.open(path, flags | os.O_NONBLOCK)


def _first_bytes(pipe: BufferedReader) -> bytes | None:
    """First bytes of a pipe once there is a writer, possibly none; ``None`` if no writer comes in
    time.  Further reads wait."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    end = time.monotonic() + _WRITER_SECONDS
    data: bytes | None = None
    with _progress("Waiting for a writer of the pipe"):
        while data is None and time.monotonic() < end:
            try:
                # A pipe without a writer is at its end, but not hung up.
                data = os.read(pipe.fileno(), _CHUNK_BYTES)
            except BlockingIOError:
                data = b""
            else:
                if not data and not poll.poll(0):
                    data = None
                    time.sleep(_LOOK_SECONDS)
    os.set_blocking(pipe.fileno(), True)
    return data


def _progress(description: str) -> AbstractContextManager[Callable[..., None]]:
    # Imported here, since it imports this module.
    from racetrap.commands.shared.terminal import progress_bar

    return progress_bar(description)


def name_file(path: str, name: str) -> None:
    """Set the name under which a file is printed."""
    _GIVEN[path] = name


def given_name(text: str) -> str:
    """A path, or a sentence with paths, with every file under the name given by the user."""
    for path, given in _GIVEN.items():
        text = text.replace(path, "standard input" if given == "-" and text != path else given)
    return text
