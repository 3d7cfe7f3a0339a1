"""Content cache: what is costly to make, kept under a name that follows from all it depends on."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from filelock import FileLock

__all__ = ["cache_folder", "content_key", "keep", "keep_json", "locked", "write_whole"]

_UNFINISHED = ".unfinished"


def cache_folder() -> Path:
    """``$RACETRAP_CACHE``, or ``build`` in the checkout."""
    named = os.environ.get("RACETRAP_CACHE")
    return Path(named) if named else Path(__file__).resolve().parents[1] / "build"


def content_key(*content: object, files: Iterable[Path] = ()) -> str:
    """Hash of what a result depends on, in 16 hexadecimal digits.

    Parameters
    ----------
    content : object
        Values, as JSON takes them.
    files : iterable of Path
        Files whose names and contents count.
    """
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for path in files:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def locked(path: Path) -> AbstractContextManager[object]:
    """Lock that processes hold in turn; ``path`` is the lock's file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(path)


def keep(path: Path, make: Callable[[Path], object]) -> Path:
    """The file or folder ``path``, made if it is not there.

    Processes that want the same path at the same time make it once.  One that fails or is stopped
    leaves no path: what it had begun is made anew.

    Parameters
    ----------
    path : Path
        Where it is kept.
    make : callable
        Makes it under the path that it is given, which does not exist.
    """
    with locked(_with_suffix(path, ".lock")):
        if not path.exists():
            unfinished = _with_suffix(path, _UNFINISHED)
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.unlink(missing_ok=True)
            make(unfinished)
            unfinished.rename(path)
    return path


def keep_json(kind: str, content: object, make: Callable[[], Any]) -> Any:
    """The JSON document for ``content``, as it reads back, made only if it was never made before.

    Parameters
    ----------
    kind : str
        Folder of the cache.
    content : JSON value
        Everything that the document depends on.
    make : callable
        Makes it.
    """

    def write(unfinished: Path) -> None:
        unfinished.write_text(json.dumps(make(), indent=1), encoding="utf-8")

    path = keep(cache_folder() / kind / f"{content_key(content)}.json", write)
    return json.loads(path.read_text(encoding="utf-8"))


def write_whole(path: Path, text: str) -> None:
    """Write a file as a whole, or not at all if the process is stopped."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = _with_suffix(path, _UNFINISHED)
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _with_suffix(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
