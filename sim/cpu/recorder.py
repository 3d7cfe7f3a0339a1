"""Recorder of real programs: C or C++ sources with threads to a trace of a run.

Ref: SigRace (ISCA'09) Section 3.2.3: the application is unmodified, and only relinked with a
synchronisation library.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from racetrap.golden_model.trace.container.rules import TraceError
from racetrap.golden_model.trace.threads.events import ThreadTraceHeader
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.compiler import compile_program
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.instruction_counts import write_counts
from racetrap.sim.cpu.interleave import interleave
from racetrap.sim.cpu.locations import find_locations
from racetrap.sim.cpu.raw import RAW_DTYPE, RawStream, read_streams, used_bytes
from racetrap.sim.cpu.watched_process import run_watched

__all__ = ["TIMEOUT", "RecordError", "Recording", "record", "source_text"]

#: Seconds after which a program is ended.
TIMEOUT = 600.0
_MAX_SEED = (1 << 64) - 1


class Recording(NamedTuple):
    """A recorded run.

    Parameters
    ----------
    trace : ThreadTrace
        Its events.
    run_seconds : float
        Time that the program took while it was recorded.
    merge_seconds : float
        Time to merge the threads' records into one order.
    raw_bytes : int
        Bytes of the raw records.
    """

    trace: ThreadTrace
    run_seconds: float
    merge_seconds: float
    raw_bytes: int


def _progress_of(raw: Path, progress: Callable[[int], None] | None) -> Callable[[], None]:
    """Call ``progress`` with the approximate number of events: the file grows by large parts."""

    def report() -> None:
        if progress is not None:
            progress(used_bytes(raw) // RAW_DTYPE.itemsize)

    return report


def _run(
    program: Path, arguments: Sequence[str], raw: Path, seed: int | None, timeout: float,
    progress: Callable[[int], None] | None, output: IO[str] | None,
) -> float:  # fmt: skip
    counts = raw / "counts"
    try:
        write_counts(program, counts)
    except OSError as error:
        raise RecordError(f"Instruction counts cannot be written: {error}") from None
    environment = os.environ | {"RACETRAP_RAW": str(raw), "RACETRAP_COUNTS": str(counts)}
    environment.pop("RACETRAP_SEED", None)
    if seed is not None:
        environment["RACETRAP_SEED"] = str(seed)
    command = [str(program), *arguments]
    return run_watched(command, environment, raw, timeout, _progress_of(raw, progress), output)


def _trace_of(
    streams: Sequence[RawStream], program: Path, source: str, seed: int | None
) -> ThreadTrace:
    if not streams or not len(streams[0]):
        raise RecordError("Program left no records: it must be linked with the C library")
    events = interleave(streams)
    header = ThreadTraceHeader(
        threads=int(events["thread"].max()) + 1,
        source=source,
        seed=seed,
        locations=find_locations(program, np.unique(events["pc"]).tolist()),
    )
    try:
        return ThreadTrace(header, events)
    except TraceError as error:
        raise RecordError(f"Program breaks a rule of its synchronisation: {error}") from None


def source_text(sources: Sequence[Path], arguments: Sequence[str]) -> str:
    """What the header of a trace says of a program: its files and arguments, printable."""
    text = " ".join([*(Path(path).name for path in sources), *arguments])
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def record(
    sources: Sequence[Path],
    arguments: Sequence[str] = (),
    *,
    include: Sequence[Path] = (),
    options: Sequence[str] = (),
    seed: int | None = None,
    timeout: float = TIMEOUT,
    progress: Callable[[int], None] | None = None,
    output: IO[str] | None = None,
) -> Recording:
    """Compile a program, run it, and return its trace with the figures of the run.

    Parameters
    ----------
    sources : sequence of Path
        C and C++ files, unmodified.
    arguments : sequence of str
        Arguments of the program.
    include : sequence of Path
        Folders of header files; ``racetrap.h`` is found in any case.
    options : sequence of str
        More options for compiler and linker.
    seed : int or None
        Seed of small delays before synchronisation, which cause other orders of events.
    timeout : float
        Seconds after which the program is ended.
    progress : callable or None
        Called now and then with the number of events so far, about.
    output : file or None
        The program's standard output; None: that of this process.

    Raises
    ------
    RecordError
        If the program cannot be compiled, run or recorded.
    ValueError
        If the seed is out of range.
    """
    if seed is not None and not 0 <= seed <= _MAX_SEED:
        raise ValueError(f"Seed must be from 0 to {_MAX_SEED}, not {seed}")
    with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
        folder, raw = Path(name), Path(name) / "raw"
        raw.mkdir()
        program = compile_program([Path(path) for path in sources], folder, include, options)
        run_seconds = _run(program, arguments, raw, seed, timeout, progress, output)
        raw_bytes = used_bytes(raw)
        begin = time.perf_counter()
        trace = _trace_of(read_streams(raw), program, source_text(sources, arguments), seed)
        return Recording(trace, run_seconds, time.perf_counter() - begin, raw_bytes)
