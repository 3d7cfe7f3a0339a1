"""Cache operations and waits of a run, and the races that each of them prevents."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.noncoherent.oracle import OracleLimitError, racy_bytes
from racetrap.golden_model.noncoherent.races import Race
from racetrap.golden_model.trace import NoncoherentTrace
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.sim.accelerator.without import Without, places_of, rules_text


def without_each(
    trace: NoncoherentTrace, detector: Noncoherent, asks_machine: bool = False
) -> list[Without]:
    """Leave out the cache operations and waits of one place after another.

    The other operations of a run do not depend on them as long as the program's data do not, which
    holds for recorded runs: the recorder does DMA at once.

    Parameters
    ----------
    trace : NoncoherentTrace
        The whole run.
    detector : Noncoherent
        Hardware and mode.
    asks_machine : bool
        Whether to ask the exhaustive machine, too.
    """
    events, everything = trace.events, np.arange(len(trace.events))
    known = {_key(race, everything) for race in _races(detector, events)}
    racy = _racy_bytes(detector, trace, everything) if asks_machine else None
    found = []
    for place, numbers in places_of(trace):
        kept = np.delete(everything, numbers)
        new = [race for race in _races(detector, events[kept]) if _key(race, kept) not in known]
        now = None if racy is None else _racy_bytes(detector, trace, kept)
        found.append(
            replace(
                place,
                harm=rules_text(race.rule.value for race in new),
                is_racy=None if racy is None or now is None else now > racy,
            )
        )
    return found


def _races(detector: Noncoherent, events: np.ndarray) -> list[Race]:
    return [race for race in run_compiled(detector, events).races if not race.is_overwritten]


def _key(race: Race, numbers: np.ndarray) -> tuple[object, ...]:
    """Rule and places; ``numbers`` are those of the operations in the whole run."""
    earlier, later = (
        origin._replace(number=int(numbers[origin.number])).place
        for origin in (race.earlier, race.later)
    )
    return race.rule, earlier, later


def _racy_bytes(detector: Noncoherent, trace: NoncoherentTrace, numbers: np.ndarray) -> int | None:
    """How many bytes race on the exhaustive machine; None: the run is too long for it."""
    operations = list(NoncoherentTrace(trace.header, trace.events[numbers]))
    try:
        found = racy_bytes(detector.memory, operations)
    except OracleLimitError:
        return None
    return sum(one.last + 1 - one.first for one in found)
