"""Files that commands read: on disk, from standard input as `-`, or from a pipe."""

from __future__ import annotations

import errno
import shutil
import stat
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import click

__all__ = ["InputFile", "NamedFiles", "given_name"]

#: Of a pipe, which has no size until its end.
_MOST_BYTES = 1 << 30
_CHUNK_BYTES = 1 << 20
#: What the user has called the files that were copied, by their paths.
_GIVEN: dict[str, str] = {}


class NamedFiles(click.ParamType):
    """Value that names a file, which is read by its name.

    Parameters
    ----------
    behind : str
        What the file's name stands behind in the value, such as ``=``.

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
        """Files of the parameter's values, of which there may be several, or none.

        Parameters
        ----------
        values : sequence of str
            The values, as they were given.
        others : mapping of str to object
            Values of all parameters by their names, as they were given.
        """
        if self._behind:
            values = [value.partition(self._behind)[2] for value in values]
        return [value for value in values if value and (self.is_output or value != "-")]


class InputFile(NamedFiles):
    """Path of a file to be read; what has no size is copied into a temporary file first."""

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
            return value  # the reader says what is wrong
        if stat.S_ISFIFO(mode):
            with open(value, "rb") as pipe:
                return self._copy(pipe, value, param, ctx)
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            self.fail(f"Input must be a file or a pipe, not the device {value}", param, ctx)
        return value

    def _copy(
        self, source: IO[bytes], given: str, param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:  # fmt: skip
        folder = tempfile.mkdtemp(prefix="racetrap-")
        if ctx is not None:
            ctx.call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
        # The end of the name tells some readers what the file is.
        path = Path(folder, "input" if given == "-" else Path(given).name)
        _GIVEN[str(path)] = given
        left = _MOST_BYTES
        with path.open("wb") as target:
            while data := source.read(_CHUNK_BYTES):
                left -= len(data)
                if left < 0:
                    self.fail(
                        f"Pipe must have at most {_MOST_BYTES} bytes, not more; a file may be "
                        "larger", param, ctx,
                    )  # fmt: skip
                target.write(data)
        return str(path)


def given_name(text: str) -> str:
    """A path, or a sentence with paths, with every file named as the user has called it."""
    for path, given in _GIVEN.items():
        text = text.replace(path, "standard input" if given == "-" and text != path else given)
    return text
