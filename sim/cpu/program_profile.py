"""Profile of a recorded program: counts of its events, and how much of its data is shared.

``python -m racetrap.sim.cpu.program_profile [SIZE [THREADS]]`` prints those of all programs.
"""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass

import numpy as np

from racetrap.golden_model.happens_before.accesses import granule_accesses
from racetrap.golden_model.trace.threads.events import ThreadEventKind
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.programs.catalogue import PROGRAMS, SIZES

_KIND = ThreadEventKind


@dataclass(frozen=True)
class Profile:
    """Counts of a trace.

    Parameters
    ----------
    threads : int
        Threads.
    events, accesses, atomics : int
        All events; plain accesses among them; atomic ones.
    synchronisations : int
        Acquires, releases and arrivals at barriers.
    instructions : int
        Instructions committed by all threads.
    granules : int
        4-byte words accessed.
    shared : float
        Fraction of plain accesses to words that several threads access.
    """

    threads: int
    events: int
    accesses: int
    atomics: int
    synchronisations: int
    instructions: int
    granules: int
    shared: float


def _sharing(events: np.ndarray) -> tuple[int, float]:
    """Granules accessed, and the fraction of plain accesses to those of several threads."""
    rows, granules = granule_accesses(events, np.flatnonzero(events["kind"] <= _KIND.ATOMIC_UPDATE))
    if not len(rows):
        return 0, 0.0
    values, place = np.unique(granules, return_inverse=True)
    threads = events["thread"][rows]
    lowest = np.full(len(values), np.iinfo(threads.dtype).max, threads.dtype)
    highest = np.zeros(len(values), threads.dtype)
    np.minimum.at(lowest, place, threads)
    np.maximum.at(highest, place, threads)
    plain = events["kind"][rows] <= _KIND.STORE
    shared = (lowest != highest)[place][plain]
    return len(values), float(shared.mean()) if len(shared) else 0.0


def profile(trace: ThreadTrace) -> Profile:
    """Counts of a trace."""
    events = trace.events
    counts = np.bincount(events["kind"], minlength=len(_KIND)).tolist()
    granules, shared = _sharing(events)
    return Profile(
        threads=trace.header.threads,
        events=len(events),
        accesses=counts[_KIND.LOAD] + counts[_KIND.STORE],
        atomics=sum(counts[_KIND.ATOMIC_LOAD : _KIND.ATOMIC_UPDATE + 1]),
        synchronisations=sum(counts[kind] for kind in (_KIND.ACQUIRE, _KIND.RELEASE))
        + counts[_KIND.BARRIER_ARRIVE],
        instructions=int(events["instructions"].sum(dtype=np.int64)),
        granules=granules,
        shared=shared,
    )


def main(size: str = SIZES[0], threads: str = "4") -> None:
    """Print the profile of one run of each program, a line each."""
    for name in PROGRAMS:
        figures = asdict(profile(program_trace(name, size, int(threads))))
        shared = figures.pop("shared")
        counts = ", ".join(f"{count:,} {what}" for what, count in figures.items())
        print(f"{name}: {counts}, {shared:.0%} of accesses to shared words")


if __name__ == "__main__":
    main(*sys.argv[1:])
