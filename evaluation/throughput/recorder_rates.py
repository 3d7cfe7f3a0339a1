"""Rates of recording and exact check of a program, beside the compiler's own race detector.

Ref: SigRace (ISCA'09) Section 3.2.3 (the application is unmodified).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

from racetrap.evaluation.throughput.rates import Rate, rate_of
from racetrap.sim.cpu.exact_detector import exact_races, prepare_detector
from racetrap.sim.cpu.recorder import record
from racetrap.sim.cpu.thread_sanitizer import SanitizedProgram

__all__ = ["RecorderRates", "recorder_rates"]

_PROGRAM = Path(__file__).with_suffix(".c")
#: About 13 million events.
_PASSES = 1600


@dataclass(frozen=True)
class RecorderRates:
    """Events a second of wall-clock time.

    Parameters
    ----------
    events : int
        Events of the program.
    recorded : Rate
        While the program runs, its start and end included.
    merged : Rate
        When its records become a trace, all rules of traces checked.
    checked : Rate
        When the compiled exact detector looks for races in the trace.
    sanitizer_seconds : float
        Seconds of the program under ThreadSanitizer: the median of as many runs.
    """

    events: int
    recorded: Rate
    merged: Rate
    checked: Rate
    sanitizer_seconds: float

    @property
    def slowdown(self) -> float:
        """Time from the program's start to the exact verdict, in multiples of ThreadSanitizer's."""
        rates = (self.recorded, self.merged, self.checked)
        return sum(self.events / rate.median for rate in rates) / self.sanitizer_seconds


def recorder_rates(passes: int = _PASSES, runs: int = 3) -> RecorderRates:
    """Record the program some times.

    Parameters
    ----------
    passes : int
        Passes of the program over its arrays.
    runs : int
        Runs.

    Raises
    ------
    RecordError, SanitizerError
        If it cannot be compiled, recorded, or run under ThreadSanitizer.
    """
    recorded, merged, checked, events = [], [], [], 0
    prepare_detector()
    for _ in range(runs):
        recording = record([_PROGRAM], [str(passes)])
        events = len(recording.trace)
        recorded.append(events / recording.run_seconds)
        merged.append(events / recording.merge_seconds)
        checked.append(events / _seconds(partial(exact_races, recording.trace)))
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        program = SanitizedProgram([_PROGRAM], Path(folder))
        seconds = [_seconds(lambda: program.races([str(passes)], runs=1)) for _ in range(runs)]
    rates = (rate_of(recorded), rate_of(merged), rate_of(checked))
    return RecorderRates(events, *rates, median(seconds))


def _seconds(work: Callable[[], object]) -> float:
    """Wall-clock time."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
