"""Writing a file so that it is either the old one or the whole new one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["replacing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """File that takes the place of ``path`` when all is written.

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
