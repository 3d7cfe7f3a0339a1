"""Time and memory from a program's start to the exact verdict, beside the compiler's own detector.

Ref: SigRace (ISCA'09) Section 3.2.3 (the application is unmodified).
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from racetrap.evaluation.processes import processes
from racetrap.evaluation.throughput.rates import Rate, rate_of
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.sim.cpu.exact_detector import exact_races, prepare_detector
from racetrap.sim.cpu.merge import prepare_merge
from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from racetrap.sim.cpu.recorder import record
from racetrap.sim.cpu.sigrace.compiled_sigrace import prepare_sigrace, run_sigrace
from racetrap.sim.cpu.thread_sanitizer import SanitizedProgram
from racetrap.sim.cpu.trace_rules import prepare_rules


class MeasuredProgram(NamedTuple):
    """A program that is measured.

    Parameters
    ----------
    source : Path
        Its source.
    arguments : tuple of str
        Its arguments.
    """

    source: Path
    arguments: tuple[str, ...]


_ARRAYS = Path(__file__).with_suffix(".c")
#: At least 10 million events each, the last one 50 million; threads, size and seed of the
#: programs, passes and threads of the arrays, which race if there are several threads.
MEASURED = (
    MeasuredProgram(PROGRAMS["blackscholes"].source, ("4", "270000", "7")),
    MeasuredProgram(PROGRAMS["kvstore"].source, ("4", "850000", "7")),
    MeasuredProgram(PROGRAMS["ocean"].source, ("4", "400", "7")),
    MeasuredProgram(PROGRAMS["radix"].source, ("4", "400000", "7")),
    MeasuredProgram(PROGRAMS["water"].source, ("4", "1000", "7")),
    MeasuredProgram(_ARRAYS, ("320", "4")),
    MeasuredProgram(_ARRAYS, ("6400", "1")),
)


@dataclass(frozen=True)
class RecorderRates:
    """Events a second of wall-clock time, and memory.

    Parameters
    ----------
    name : str
        The program's source, and its arguments.
    events : int
        Events of the program.
    recorded : Rate
        While the program runs, its start and end included.
    merged : Rate
        When its records become a trace, all rules of traces checked.
    checked : Rate
        When the compiled exact detector looks for races in the trace.
    sigrace : Rate
        When SigRace, compiled, runs over the trace.
    conflicts : int
        Conflicts that it analysed.
    bytes_per_event : float
        Most memory that the recorder and the detectors took for an event.
    sanitizer_seconds : float
        Seconds of the program under ThreadSanitizer: the median of as many runs.
    """

    name: str
    events: int
    recorded: Rate
    merged: Rate
    checked: Rate
    sigrace: Rate
    conflicts: int
    bytes_per_event: float
    sanitizer_seconds: float

    @property
    def slowdown(self) -> float:
        """Time from the program's start to the exact verdict, in multiples of ThreadSanitizer's."""
        rates = (self.recorded, self.merged, self.checked)
        return sum(self.events / rate.median for rate in rates) / self.sanitizer_seconds

    @property
    def sigrace_ratio(self) -> float:
        """Time of SigRace in multiples of the exact detector's."""
        return self.checked.median / self.sigrace.median


def recorder_rates(program: MeasuredProgram, runs: int = 3) -> RecorderRates:
    """Record and check a program some times, in a process of its own.

    Parameters
    ----------
    program : MeasuredProgram
        The program.
    runs : int
        Runs.

    Raises
    ------
    Failure
        If it cannot be compiled, recorded, or run under ThreadSanitizer.
    """
    with processes(1) as pool:
        return pool.submit(_measure, program, runs).result()


def _measure(program: MeasuredProgram, runs: int) -> RecorderRates:
    source, arguments = program
    recorded, merged, checked, sigrace = [], [], [], []
    events = conflicts = 0
    prepare_merge()
    prepare_rules()
    prepare_detector()
    prepare_sigrace()
    before = _most_memory()
    for _ in range(runs):
        recording = record([source], arguments)
        events = len(recording.trace)
        recorded.append(events / recording.run_seconds)
        merged.append(events / recording.merge_seconds)
        checked.append(events / _seconds(partial(exact_races, recording.trace)))
        begin = time.perf_counter()
        conflicts = run_sigrace(Sigrace(SigraceParams()), recording.trace).conflicts
        sigrace.append(events / (time.perf_counter() - begin))
        del recording
    memory = (_most_memory() - before) / events
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        sanitized = SanitizedProgram([source], Path(folder))
        seconds = [_seconds(partial(sanitized.races, arguments, runs=1)) for _ in range(runs)]
    return RecorderRates(
        " ".join([source.name, *arguments]), events,
        recorded=rate_of(recorded), merged=rate_of(merged), checked=rate_of(checked),
        sigrace=rate_of(sigrace), conflicts=conflicts, bytes_per_event=memory,
        sanitizer_seconds=median(seconds),
    )  # fmt: skip


def _most_memory() -> int:
    """Maximum bytes of memory that this process has used."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _seconds(work: Callable[[], object]) -> float:
    """Wall-clock time."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
