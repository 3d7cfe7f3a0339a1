"""Inventory of the content cache: sizes of its contents, and their removal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from racetrap.sim.content_cache import VERSION_TAG, cache_base, cache_folder

#: Kind that may have taken the user hours to compute, unlike builds.
SWEEPS = "sweep"


@dataclass(frozen=True)
class Holding:
    """Contents of the cache of one kind.

    Parameters
    ----------
    version : str
        Version of racetrap that made it.
    kind : str
        Name of its folder.
    folder : Path
        Folder of the contents.
    bytes : int
        Sum of the files' sizes.
    """

    version: str
    kind: str
    folder: Path
    bytes: int

    @property
    def is_old(self) -> bool:
        """Whether it is from another version than the running one."""
        return self.version != cache_folder().name


def holdings() -> list[Holding]:
    """Contents of the cache, by version and kind; only folders made by the cache."""
    return [
        Holding(version.name, kind.name, kind, _bytes(kind))
        for version in _folders(cache_base())
        if (version / VERSION_TAG).is_file()
        for kind in _folders(version)
    ]


def remove(holding: Holding) -> None:
    """Remove a kind, and the folder of its version with the last."""
    shutil.rmtree(holding.folder)
    version = holding.folder.parent
    if not any(_folders(version)):
        shutil.rmtree(version)


def _folders(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(p for p in folder.iterdir() if p.is_dir() and not p.is_symlink())


def _bytes(folder: Path) -> int:
    """Sum of the sizes of a folder's files, without those that other processes remove meanwhile."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total
