"""Tables of a launch file, made from arrays, of which the suite's launches are composed."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Keys of a launch file, or of one of its tables.
LaunchTables = dict[str, Any]


def buffer(contents: str, count: int) -> LaunchTables:
    """A buffer of words: ``zeros`` or ``arange``."""
    return {"buffer": contents, "type": "u32", "count": count}


def result(expected: np.ndarray) -> LaunchTables:
    """A buffer of zeros that must hold an array of words in the end."""
    words = np.asarray(expected).astype(np.uint32)
    return {**buffer("zeros", words.size), "expected": words.ravel().tolist()}


def named(name: str, table: LaunchTables) -> LaunchTables:
    """A buffer that several launches point into."""
    return {"name": name, **table}


def number(value: int) -> LaunchTables:
    """A word."""
    return {"type": "u32", "value": value}


def pointer(name: str) -> LaunchTables:
    """Address of a named buffer."""
    return {"pointer": name}


def scattered(index: np.ndarray) -> np.ndarray:
    """Input of the kernels: ``scattered`` of ``common.cuh``."""
    return (np.asarray(index, np.uint32) + np.uint32(1)) * np.uint32(2654435761)
