"""Results of long work, kept under a name that follows from all that they depend on."""

from __future__ import annotations

import contextlib
import pickle
import shutil
import sys
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from glob import glob
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import racetrap
from racetrap.sim.content_cache import content_key, write_whole
from racetrap.sim.gnu_tools import run_tool


@cache
def sources(*patterns: str) -> str:
    """Hash of all sources of racetrap, or of those that match, and of the Python that runs them."""
    root = racetrap.__path__[0]
    each = (glob(f"{root}/{pattern}", recursive=True) for pattern in patterns or ("**/*",))
    found = sorted(name for names in each for name in names)
    files = [Path(name) for name in found if "__pycache__" not in name and Path(name).is_file()]
    return content_key(sys.version, files=files)


@cache
def tools() -> str:
    """Hash of the versions of all packages that are installed, and of the compiler of programs."""
    # A checkout has racetrap twice where it is the working folder, too.
    packages = sorted({f"{each.name} {each.version}" for each in distributions()})
    compiler = run_tool(["gcc", "--version"], "") if shutil.which("gcc") else ""
    return content_key(packages, compiler)


def result_key(
    function: Callable[..., object], item: object, patterns: tuple[str, ...] = ()
) -> str:
    """Name of the result of ``function`` on ``item``: a hash of both, of sources and of tools.

    Parameters
    ----------
    function : callable
        The function.
    item : object
        What it is called with.
    patterns : tuple of str
        Sources that the result depends on; empty: all.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    return content_key(name, _plain(item), sources(*patterns), tools())


def _plain(value: Any) -> Any:
    """A value as JSON takes it, the same in every process."""
    if isinstance(value, Enum | Path):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, AbstractSet):  # whose order is another in each process
        return sorted(map(_plain, value), key=repr)
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(each)] for key, each in value.items()]
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    # Of a dataclass its fields alone: a cached property comes and goes.
    names = [each.name for each in fields(value)] if is_dataclass(value) else list(vars(value))
    return [type(value).__name__, [[name, _plain(getattr(value, name))] for name in names]]


@dataclass(frozen=True)
class KeptResults:
    """Results in a folder of the cache, a file each.

    Parameters
    ----------
    folder : Path
        The folder.  As the libraries beside it, its files are trusted: loading one runs code.
    """

    folder: Path

    def load(self, key: str) -> tuple[Any] | None:
        """A result, in a tuple; ``None`` if it is not there, or its file is spoilt."""
        # A file that is cut short or of other classes raises almost anything.
        with contextlib.suppress(Exception):
            kept, result = pickle.loads(self._path(key).read_bytes())
            return (result,) if kept == key else None
        return None

    def save(self, key: str, result: object) -> None:
        """Keep a result: whole, or not at all if the process is killed.

        Raises
        ------
        CacheError, OSError
            If it cannot be written.
        """
        write_whole(self._path(key), pickle.dumps((key, result)))

    def forget(self, key: str) -> None:
        """Delete a result."""
        self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.pickle"
