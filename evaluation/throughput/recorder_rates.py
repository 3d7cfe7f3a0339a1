"""Rate of recording: events a second of a program with one working thread.

Ref: SigRace (ISCA'09) Section 3.2.3 (the application is unmodified).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from racetrap.evaluation.throughput.rates import Rate, rate_of
from racetrap.sim.cpu.recorder import record

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
    """

    events: int
    recorded: Rate
    merged: Rate


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
    RecordError
        If it cannot be compiled or recorded.
    """
    recorded, merged, events = [], [], 0
    for _ in range(runs):
        recording = record([_PROGRAM], [str(passes)])
        events = len(recording.trace)
        recorded.append(events / recording.run_seconds)
        merged.append(events / recording.merge_seconds)
    return RecorderRates(events, rate_of(recorded), rate_of(merged))
