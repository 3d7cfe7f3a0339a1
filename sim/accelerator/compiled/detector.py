"""Detector of races between a CPU with a cache and accelerators that bypass it, in C++.

Ref: Young, "Dynamic Race Detection for Non-Coherent Accelerators" (UBC 2020).
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import CDLL, POINTER, byref, c_int, c_uint, c_uint64, c_void_p, string_at
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.noncoherent.races import Origin, Race
from racetrap.golden_model.noncoherent.rules import Overlap, Rule
from racetrap.golden_model.trace.container.columns import event_records
from racetrap.golden_model.trace.noncoherent.operations import Operation, OperationKind
from racetrap.golden_model.trace.noncoherent.schema import OPERATION_DTYPE, OPERATION_SCHEMA
from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.twins import enumeration, positions, record

_FOLDER = Path(__file__).parent
_OPTIONS = ("-std=c++20", "-O2")
_NONE = (1 << 64) - 1
#: Operations passed at a time.
_BLOCK = 1 << 20
_RACE_DTYPE = np.dtype([
    ("later", "<u8"), ("earlier", "<u8"), ("first", "<u8"), ("last", "<u8"),
    ("instances", "<u8"), ("rule", "u1"), ("overlap", "u1"), ("is_overwritten", "u1"),
    ("unused", "u1", 5),
])  # fmt: skip
_TWINS = (
    enumeration(OperationKind, name="Kind", bits=8),
    positions("Rule", [rule.name for rule in Rule], bits=8),
    positions("Overlap", [overlap.name for overlap in Overlap], bits=8),
    record(OPERATION_DTYPE, "Record"),
    record(_RACE_DTYPE, "Race"),
)
_FUNCTIONS: Functions = {
    "detector_new": (c_void_p, [c_int, POINTER(c_uint64), c_uint, *[c_int] * 3]),
    "detector_run": (None, [c_void_p, c_void_p, c_uint64]),
    "detector_close": (c_uint64, [c_void_p, POINTER(c_void_p)]),
    "detector_first": (c_uint64, [c_void_p]),
    "detector_held": (c_uint64, [c_void_p, POINTER(c_uint64)]),
    "detector_most_runs": (c_uint64, [c_void_p]),
    "detector_delete": (None, [c_void_p]),
}


class CompiledResult(NamedTuple):
    """Result of a run.

    Parameters
    ----------
    races : list of Race
        Races, in the order of their first instances.
    first : int or None
        Number of the first operation that breaks a rule.
    held : tuple of int
        State that affects later operations: each set's bytes from 0 to 63, as a mask.
    most_runs : int
        Maximum total intervals in all its sets, which determines its memory use.
    """

    races: list[Race]
    first: int | None
    held: tuple[int, ...]
    most_runs: int


@cache
def _library() -> CDLL:
    """The shared library, compiled once."""
    sources = sorted([*_FOLDER.glob("*.cpp"), *_FOLDER.glob("*.h")])
    return compiled_library("noncoherent", sources, _OPTIONS, _FUNCTIONS, _TWINS)


def run_compiled(
    detector: Noncoherent, operations: np.ndarray | Sequence[Operation]
) -> CompiledResult:
    """Races of a run.

    Parameters
    ----------
    detector : Noncoherent
        Hardware and mode.
    operations : numpy.ndarray or sequence of Operation
        Operations, or their records of ``OPERATION_DTYPE``, which may be mapped from a file; they
        must obey the rules of the format.

    Raises
    ------
    Failure
        If the library cannot be compiled.
    """
    if not isinstance(operations, np.ndarray):
        operations = event_records(OPERATION_SCHEMA, operations, lambda row: f"operation {row}")
    library, memory = _library(), detector.memory
    sizes = (c_uint64 * 2)(memory.line_bytes, memory.write_unit)
    handle = library.detector_new(
        detector.mode == "strict", sizes, memory.engines, memory.prefetch,
        memory.uncached_snoops_cache, memory.write_through,
    )  # fmt: skip
    try:
        for start in range(0, len(operations), _BLOCK):
            block = np.ascontiguousarray(operations[start : start + _BLOCK], OPERATION_DTYPE)
            library.detector_run(handle, block.ctypes.data, len(block))
        address = c_void_p()
        count = library.detector_close(handle, byref(address))
        found = string_at(address.value or 0, count * _RACE_DTYPE.itemsize) if count else b""
        races = _races(np.frombuffer(found, _RACE_DTYPE), operations)
        first, masks = library.detector_first(handle), (c_uint64 * (4 + 2 * memory.engines))()
        held = tuple(masks[: library.detector_held(handle, masks)])
        return CompiledResult(
            races, None if first == _NONE else first, held, library.detector_most_runs(handle)
        )
    finally:
        library.detector_delete(handle)


def _races(found: np.ndarray, operations: np.ndarray) -> list[Race]:
    rules, overlaps = list(Rule), list(Overlap)

    def origin(number: int) -> Origin:
        operation = operations[number]
        return Origin(number, *(int(operation[name]) for name in ("kind", "engine", "pc")))

    return [
        Race(
            rules[race["rule"]], origin(int(race["later"])), origin(int(race["earlier"])),
            int(race["first"]), int(race["last"]), overlaps[race["overlap"]],
            int(race["instances"]), bool(race["is_overwritten"]),
        )
        for race in found
    ]  # fmt: skip
