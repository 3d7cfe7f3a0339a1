"""Waves in FST files, as another reader finds them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pylibfst


class FstSignal(NamedTuple):
    """A signal of a file.

    Parameters
    ----------
    scopes, names : list of str
        Scopes of the file, and names of all signals.
    changes : list of (int, str)
        Its values in binary, each with the time from which on it holds.
    """

    scopes: list[str]
    names: list[str]
    changes: list[tuple[int, str]]


def read_signal(file: Path, name: str) -> FstSignal:
    """A signal, by its name with the scopes and bits."""
    reader = pylibfst.lib.fstReaderOpen(str(file).encode())
    assert reader != pylibfst.ffi.NULL
    scopes, signals = pylibfst.get_scopes_signals2(reader)
    handle = signals.by_name[name].handle
    pylibfst.lib.fstReaderSetFacProcessMask(reader, handle)
    changes: list[tuple[int, str]] = []
    pylibfst.fstReaderIterBlocks2(
        reader,
        lambda _, time, handle, value: changes.append((time, pylibfst.string(value))),
        lambda *_: None,
    )
    pylibfst.lib.fstReaderClose(reader)
    return FstSignal(list(scopes), list(signals.by_name), changes)
