"""Interface of a detector to the verdict on a GPU's traces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from racetrap.generators.systems import system_of
from racetrap.golden_model.barracuda import Race
from racetrap.golden_model.events import Event
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.findings import Finding, Reports, UniqueRace


class Model(Protocol):
    """Golden model of a GPU detector after a run."""

    @property
    def unique(self) -> Mapping[UniqueRace, Any]:
        """First report of each unique race."""

    @property
    def counters(self) -> Mapping[str, int]:
        """Counters by the names of the registers."""


@dataclass(frozen=True)
class DetectorVerdict:
    """A detector's part of the verdict, in terms of traces and parameters.

    Parameters
    ----------
    find_races : callable
        Given trace, parameters and the trace's events (wrapped by the caller, or None): runs the
        golden model; returns it, and every race with both accesses as it is found.  Raises
        ``ValueError`` if the configuration has no room for the trace.
    race_words : callable
        Name of a kind of race, given its number.
    outcomes : callable
        Outcome of each race of the oracle: ``REPORTED``, one of ``NOT_CHECKED``, or the cause of
        the miss.
    imposed : callable
        Given a trace, the oracle's rule and reports that it does not confirm: those imposed by the
        method, however the accesses are ordered.
    unwatched_shared : callable
        Number of warp accesses to unmonitored shared memory.
    why_imposed : callable
        Given the name of a kind of race, why the method reports it though the accesses are ordered
        or free to conflict: a clause.
    """

    find_races: Callable[[Trace, Any, Iterable[Event] | None], tuple[Model, Iterator[Finding]]]
    race_words: Callable[[int], str]
    outcomes: Callable[[Trace, Any, Sequence[Race]], list[str]]
    imposed: Callable[[Trace, str, Reports], list[UniqueRace]]
    unwatched_shared: Callable[[Trace, Any], int]
    why_imposed: Callable[[str], str]


def verdict_of(params: Any) -> DetectorVerdict:
    """The part of the detector whose parameters are given."""
    verdict: DetectorVerdict = system_of(params).own("verdict", "verdict").VERDICT
    return verdict
