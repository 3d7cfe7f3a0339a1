"""Speed of the detectors in software on recorded programs, in seconds of the processor.

Ref: SigRace (ISCA'09) Section 5.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import process_time

from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.programs.catalogue import PROGRAMS

__all__ = ["DetectorRate", "detector_rates"]


@dataclass(frozen=True)
class DetectorRate:
    """Rates on one program.

    Parameters
    ----------
    name : str
        Program.
    events : int
        Events of its trace.
    exact, sigrace : float
        Events a second of the exact detector, and of the golden model of the whole machine.
    """

    name: str
    events: int
    exact: float
    sigrace: float


def detector_rates(size: str, names: Sequence[str] = tuple(PROGRAMS)) -> Iterator[DetectorRate]:
    """Rates on each program in turn.

    Parameters
    ----------
    size : str
        Size of the programs.
    names : sequence of str
        Programs.

    Raises
    ------
    RecordError
        If a program cannot be recorded.
    """
    params = SigraceParams()
    for name in names:
        trace = program_trace(name, size, params.threads)
        times = [process_time()]
        HappensBefore().run(trace)
        times.append(process_time())
        Sigrace(params).run(trace)
        times.append(process_time())
        exact, sigrace = (len(trace) / (end - start) for start, end in pairwise(times))
        yield DetectorRate(name, len(trace), exact, sigrace)
