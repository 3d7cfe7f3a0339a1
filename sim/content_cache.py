"""Content cache: costly results, named by a hash of all their inputs."""

from __future__ import annotations

import contextlib
import functools
import glob
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import platformdirs
from filelock import FileLock

from racetrap.sim.failure import Failure

_UNFINISHED = ".unfinished"
#: File that marks a folder of the cache, one per version of racetrap; backup programs skip it.
VERSION_TAG = "CACHEDIR.TAG"
_TAG_TEXT = """\
Signature: 8a477f597d28d172789f06886806bc55
# Cache of racetrap: `racetrap cache clear` removes it.
"""


class CacheError(Failure):
    """The cache cannot be written."""


def cache_base() -> Path:
    """``$RACETRAP_CACHE``, or the platform's cache folder of this user."""
    named = os.environ.get("RACETRAP_CACHE")
    return Path(named).absolute() if named else platformdirs.user_cache_path("racetrap")


def cache_folder() -> Path:
    """The cache of this version of racetrap, which may not exist yet."""
    return cache_base() / _version()


@functools.cache
def _version() -> str:
    return version("racetrap")


def make_folder(folder: Path) -> None:
    """Make a folder; within the cache, with the permissions of the cache's own folder."""
    base = cache_base()
    if not folder.is_relative_to(base):
        folder.mkdir(parents=True, exist_ok=True)
        return
    try:
        base.mkdir(parents=True, exist_ok=True)
        mode = base.stat().st_mode & 0o1777
        for path in [*reversed(folder.parents), folder]:
            if path.is_relative_to(base) and not path.exists():
                path.mkdir(exist_ok=True)
                path.chmod(mode)
        tag = cache_folder() / VERSION_TAG
        if not tag.exists() and tag.parent.exists():
            tag.write_text(_TAG_TEXT, encoding="utf-8")
    except OSError as error:
        raise CacheError(
            f"Cache folder {base} is not writable: {error.strerror}; RACETRAP_CACHE names another"
        ) from None


def content_key(*content: object, files: Iterable[Path] = ()) -> str:
    """Hash of the inputs of a result, in 16 hexadecimal digits.

    Parameters
    ----------
    content : object
        JSON-compatible values.
    files : iterable of Path
        Files whose names and contents count.
    """
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for path in files:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock between processes; ``path`` is the lock's file.

    The system releases it when its process ends in any way.
    """
    make_folder(path.parent)
    try:
        lock = FileLock(path, mode=0o666)  # every user with write access to the folder may take it
        lock.acquire()
    except OSError as error:
        raise CacheError(f"Lock {path} is not writable: {error.strerror}") from None
    try:
        yield
    finally:
        lock.release()


def keep(path: Path, make: Callable[[Path], object]) -> Path:
    """The file or folder ``path``, made if it does not exist.

    Concurrent processes make the same path only once.  One that fails or is stopped leaves no path,
    and the next one starts again.

    Parameters
    ----------
    path : Path
        The path.
    make : callable
        Makes it at the given temporary path, which does not exist.
    """
    if path.exists():  # without a lock: a read-only cache still works
        return path
    with locked(_with_suffix(path, ".lock")):
        if not path.exists():
            for left in path.parent.glob(f"{glob.escape(path.name)}.*{_UNFINISHED}"):
                _remove(left)
            unfinished = _unfinished(path)
            try:
                make(unfinished)
                unfinished.rename(path)
            finally:
                _remove(unfinished)
    return path


def keep_json(kind: str, content: object, make: Callable[[], Any]) -> Any:
    """The JSON document for ``content``, as read back, made unless cached.

    Parameters
    ----------
    kind : str
        Folder of the cache.
    content : JSON value
        All inputs of the document.
    make : callable
        Makes it.
    """

    def write(unfinished: Path) -> None:
        unfinished.write_text(json.dumps(make(), indent=1), encoding="utf-8")

    path = keep(cache_folder() / kind / f"{content_key(content)}.json", write)
    return json.loads(path.read_text(encoding="utf-8"))


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file completely, or not at all if the process is stopped."""
    make_folder(path.parent)
    unfinished = _unfinished(path)
    try:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)
        unfinished.replace(path)
    finally:
        _remove(unfinished)


def _unfinished(path: Path) -> Path:
    """A unique name beside ``path``: children of a killed process may still be writing to
    theirs."""
    return _with_suffix(path, f".{uuid.uuid4().hex}{_UNFINISHED}")


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def _with_suffix(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
