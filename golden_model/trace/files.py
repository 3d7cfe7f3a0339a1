"""Trace files in either form, told apart by their first byte."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from racetrap.golden_model.trace.binary_reader import load_binary
from racetrap.golden_model.trace.binary_writer import MAGIC
from racetrap.golden_model.trace.text_reader import load_text
from racetrap.golden_model.trace.trace import Trace

__all__ = ["is_binary", "read_trace"]


def is_binary(path: str | os.PathLike[str]) -> bool:
    """Whether a file is meant as a binary trace (if not, it is text)."""
    with open(path, "rb") as file:
        return file.read(1) == MAGIC[:1]


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """Read a trace file of either form and check every rule of the format.

    The arrays of a binary trace are mapped from the file, not copied.

    Raises
    ------
    OSError
        If the file cannot be read.
    TraceError
        If the file breaks a rule; names the file and the line or record.
    """
    load: Callable[[Path], Trace] = load_binary if is_binary(path) else load_text
    return load(Path(path))
