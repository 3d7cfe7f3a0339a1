"""The thesis' published traces and races, as far as its figures and text give them.

Ref: Young (UBC 2020) Section 4.2, Sections 5.3 and 5.4, Figures 4.3 and 5.2 to 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass

from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.trace.noncoherent.operations import (
    MemorySystem,
    Operation,
    OperationKind,
)
from racetrap.sim.accelerator.compiled.detector import run_compiled

K = OperationKind
#: The thesis' processor, by the addresses of its races.
_MEMORY = MemorySystem(line_bytes=64, granule_bytes=64)


@dataclass(frozen=True)
class PublishedTrace:
    """A trace of the thesis.

    Parameters
    ----------
    name : str
        Where it is from.
    operations : tuple of Operation
        The trace.
    paper : str
        What the thesis reports: the rule by its name in Section 3.3, or ``"none"``.
    rules : tuple of str
        All rules that mode ``thesis`` reports: the thesis' tool stops at the first.
    note : str
        Why that differs from the thesis; empty if it does not.
    """

    name: str
    operations: tuple[Operation, ...]
    paper: str
    rules: tuple[str, ...]
    note: str = ""


def _range(kind: OperationKind, first: int, last: int) -> Operation:
    return Operation(kind, first, last - first + 1)


_SYNC = Operation(K.SYNC_ALL)
_ARRAY = 0x7FFD97898FD0, 0x7FFD97898FD9


def _vector_add() -> tuple[Operation, ...]:
    """Section 5.3 with the addresses of Figure 5.2: arrays of 64 KiB, 16 bytes apart."""
    size, step = 0x10000, 0x10010
    vector_in1 = 0x120F070
    scalar_out = vector_in1 - step
    scalar_in1, scalar_in2 = scalar_out - 2 * step, scalar_out - step
    vector_in2, vector_out = vector_in1 + step, vector_in1 + 2 * step

    def whole(kind: OperationKind, first: int) -> Operation:
        return Operation(kind, first, size)

    return (
        whole(K.CACHED_WRITE, scalar_out),
        whole(K.UNCACHED_WRITE, vector_out),
        whole(K.CACHED_WRITE, scalar_in1),
        whole(K.CACHED_READ, scalar_in1),
        whole(K.UNCACHED_WRITE, vector_in1),
        whole(K.CACHED_WRITE, scalar_in2),
        whole(K.CACHED_READ, scalar_in2),
        whole(K.UNCACHED_WRITE, vector_in2),
        whole(K.CACHED_READ, scalar_in1),
        whole(K.CACHED_READ, scalar_in2),
        whole(K.CACHED_WRITE, scalar_out),
        whole(K.DMA_READ, vector_in1),
        whole(K.DMA_READ, vector_in2),
        whole(K.DMA_WRITE, vector_out),
        _SYNC,
        whole(K.UNCACHED_READ, vector_out),
    )


def _motion_estimation(last: int) -> tuple[Operation, ...]:
    """Section 5.3: ``scalar_x_input`` lies behind ``vector_result``, which the engine writes."""
    return (
        _range(K.CACHED_WRITE, 0x1A29080, 0x1A290BF),
        _range(K.DMA_WRITE, 0x1A25070, last),
        _SYNC,
    )


#: Figures 5.3 and 5.4 give the operations only: the range stands for theirs.
_RESULT = 0x1000, 0x1FFF

PUBLISHED = (
    PublishedTrace(
        "Figure 4.3",
        (
            _range(K.CACHED_WRITE, *_ARRAY),
            _range(K.CACHE_FLUSH, *_ARRAY),
            _range(K.DMA_READ, *_ARRAY),
            _range(K.DMA_WRITE, *_ARRAY),
            _SYNC,
            _range(K.CACHED_READ, _ARRAY[0], _ARRAY[0]),
        ),
        "none",
        (),
    ),
    PublishedTrace(
        "vbw_vec_add_t, Figure 5.2",
        _vector_add(),
        "5b",
        ("2b", "5b"),
        "the copy into vector_in1 writes into that line before, while the zeroes of scalar_out "
        "may still be in the cache",
    ),
    PublishedTrace(
        "vbw_mtx_motest, as logged",
        _motion_estimation(0x1A3506C),
        "6b",
        ("6b",),
    ),
    PublishedTrace(
        "vbw_mtx_motest, corrected",
        _motion_estimation(0x1A2906F),
        "6b",
        (),
        "the logged range ends too far: a byte count was added to a pointer to 4-byte elements",
    ),
    PublishedTrace(
        "vbw_vec_power_t, Figure 5.3",
        (_range(K.DMA_WRITE, *_RESULT), _SYNC, _range(K.UNCACHED_READ, *_RESULT)),
        "none",
        (),
    ),
    PublishedTrace(
        "vbw_vec_power_t, Figure 5.4",
        (_range(K.DMA_WRITE, *_RESULT), _range(K.UNCACHED_READ, *_RESULT)),
        "1c",
        ("1c",),
    ),
)  # fmt: skip


def rules_of(trace: PublishedTrace, mode: str, memory: MemorySystem = _MEMORY) -> tuple[str, ...]:
    """Rules that a mode reports on a published trace.

    Parameters
    ----------
    trace : PublishedTrace
        The trace.
    mode : str
        Name of the mode.
    memory : MemorySystem
        The hardware.
    """
    races = run_compiled(Noncoherent(memory, mode), trace.operations).races
    return tuple(sorted({race.rule.value for race in races}))
