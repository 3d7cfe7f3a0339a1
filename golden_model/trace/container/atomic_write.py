"""File writing that leaves either the old file or the whole new one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["atomic_write"]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file that replaces ``path`` when all of it is written.

    The old file stays whole until then: the trace being written may be mapped from it.
    """
    target = Path(path)
    if target.exists() and not target.is_file():  # a device or pipe cannot be replaced
        with target.open("wb") as file:
            yield file
        return
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as file:
        try:
            yield file
            file.flush()
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(file.name, 0o666 & ~umask)
            os.replace(file.name, target)
        except BaseException:
            os.unlink(file.name)
            raise
