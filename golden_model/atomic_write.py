"""File writing that leaves either the old file or the whole new one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

#: Folders whose links lead to open files of a process, which cannot be replaced.
_OF_SYSTEM = ("/dev/", "/proc/")


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that replaces ``path`` when all of it is written.

    The old file stays whole until then: the trace being written may be mapped from it.  System
    errors always name ``path``.
    """
    try:
        with _replacing(path) as file:
            yield file
    except OSError as error:
        if error.filename is None or Path(error.filename).parent == Path(path).parent:
            error.filename = str(path)
        raise


@contextmanager
def _replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    target = Path(path) if os.fspath(path).startswith(_OF_SYSTEM) else Path(path).resolve()
    is_kept = target.exists() and not os.access(target.parent, os.W_OK)
    if is_kept or target.is_symlink() or (target.exists() and not target.is_file()):
        with target.open("wb") as file:  # a device or pipe cannot be replaced
            yield file
        return
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
        try:
            yield file
            file.flush()
            os.chmod(file.name, mode)
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def atomic_write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8 as ``atomic_write`` does."""
    with atomic_write(path) as file:
        file.write(text.encode())
