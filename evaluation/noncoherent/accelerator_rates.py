"""Speed of recording and checking programs with accelerators.

Ref: Young (UBC 2020) Section 5.2: 9 days for a trace of 29 million lines.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from racetrap.evaluation.throughput.rates import Rate, rate_of, timed
from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.trace import NoncoherentTrace, read_accelerator_trace
from racetrap.golden_model.trace.noncoherent.operations import (
    NoncoherentTraceHeader,
    OperationKind,
)
from racetrap.golden_model.trace.noncoherent.schema import OPERATION_DTYPE
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.sim.accelerator.recorder import record_accelerator

_PROGRAM = Path(__file__).with_suffix(".c")
#: Words of a pass, in which each is loaded and stored.
_ACCESSES = 2 * 4096

#: Operations, mode and buffers of each measurement.
ANALYSES = (
    (12_500_000, "strict", 256),
    (25_000_000, "strict", 256),
    (50_000_000, "strict", 256),
    (50_000_000, "strict", 4096),
    (50_000_000, "thesis", 256),
)

_K = OperationKind
_PIECES = 12
#: A round with a buffer of three pages: write the first page in pieces, hand it to the engine and
#: let it fill the second, use the third meanwhile, and read the second in pieces.
_ROUND = (
    *[(_K.CACHED_WRITE, 344 * piece, 344) for piece in range(_PIECES)],
    (_K.CACHE_FLUSH, 0, 4128),
    (_K.DMA_READ, 0, 4128),
    (_K.DMA_WRITE, 4160, 3904),
    *[(_K.CACHED_READ, 8192 + 340 * piece, 8) for piece in range(_PIECES // 2)],
    *[(_K.CACHED_WRITE, 10240 + 340 * piece, 8) for piece in range(_PIECES // 2)],
    (_K.SYNC, 0, 0),
    (_K.CACHE_INVALIDATE, 4160, 3904),
    *[(_K.CACHED_READ, 4160 + 325 * piece, 300) for piece in range(_PIECES)],
)
_BUFFER = 3 * 4096


@dataclass(frozen=True)
class AnalysisRun:
    """A trace from its file to the verdict.

    Parameters
    ----------
    operations, mode, buffers : int, str, int
        What was measured.
    runs : int
        Most runs of bytes that all sets held.
    read, check : float
        Seconds of CPU time to read the file and check the rules of traces, and to find races.
    """

    operations: int
    mode: str
    buffers: int
    runs: int
    read: float
    check: float


def buffers_trace(operations: int, buffers: int, seed: int = 1) -> NoncoherentTrace:
    """A driver that works on one of many buffers at a time, chosen at random; without a race.

    Parameters
    ----------
    operations : int
        Length of the trace.
    buffers : int
        Number of buffers.
    seed : int
        Seed of the choice.
    """
    rounds = operations // len(_ROUND) + 1
    records = np.zeros((rounds, len(_ROUND)), OPERATION_DTYPE)
    kinds, offsets, sizes = zip(*_ROUND, strict=True)
    records["kind"], records["size"] = kinds, sizes
    records["pc"] = 0x1000 + np.arange(len(_ROUND))
    chosen = np.random.default_rng(seed).integers(0, buffers, rounds).astype(np.uint64)
    records["address"] = (chosen * np.uint64(_BUFFER))[:, None] + np.array(offsets, np.uint64)
    records["address"][:, kinds.index(_K.SYNC)] = 0
    header = NoncoherentTraceHeader(source="driver with many buffers", seed=seed)
    return NoncoherentTrace(header, records.reshape(-1)[:operations])


def measure_analysis(operations: int, mode: str, buffers: int) -> AnalysisRun:
    """Write a trace, read it, and check it on one core."""
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        path = Path(folder) / "trace"
        buffers_trace(operations, buffers).write_binary(path)
        read, trace = timed(lambda: read_accelerator_trace(path))
        detector = Noncoherent(trace.header.memory, mode)
        run_compiled(detector, trace.events[:1])  # compiles the detector, if need be
        check, found = timed(lambda: run_compiled(detector, trace.events))
        return AnalysisRun(operations, mode, buffers, found.most_runs, read, check)


def recorder_rate(step: int, passes: int = 1600, runs: int = 3) -> Rate:
    """Accesses a second of wall-clock time while a program runs, its start and end included.

    Parameters
    ----------
    step : int
        Words from one access to the next: with 1 neighbours become one record, with 16 or more
        each access is a record.
    passes : int
        Passes of the program.
    runs : int
        Runs.
    """
    arguments = [str(passes), str(step)]
    recordings = [record_accelerator([_PROGRAM], arguments) for _ in range(runs)]
    return rate_of([passes * _ACCESSES / one.run_seconds for one in recordings])
