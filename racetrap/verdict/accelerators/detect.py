"""Races with accelerators of whole traces: the plain detector, or for long ones the compiled."""

from __future__ import annotations

from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.noncoherent.races import Race
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.sim.accelerator.compiled.detector import run_compiled

#: Operations from which on it pays to compile the detector: the plain one takes a second.
LONG = 300_000


def find_races(detector: Noncoherent, trace: NoncoherentTrace) -> list[Race]:
    """Races of a trace, in the order of their first instances.

    Raises
    ------
    Failure
        If the trace is long and the detector cannot be compiled.
    """
    if len(trace) < LONG:
        return detector.run(trace)
    return run_compiled(detector, trace.events).races
