"""Outcomes of the concurrency suite's cases by both oracles and by ScoRD.

Ref: BARRACUDA (PLDI'17) Section 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from racetrap.generators.scord import SCORD
from racetrap.golden_model.barracuda.barracuda import Barracuda
from racetrap.golden_model.barracuda.race import Result
from racetrap.golden_model.barracuda.scoped import ScopedOracle
from racetrap.golden_model.events import Space
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.report import race_words
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.sim.gpu.suites.concurrency.cases import BARRIER_DIVERGENCE, CASES, RaceClasses
from racetrap.sim.gpu.suites.concurrency.runner import SCHEDULES, capture

#: The detector as it is in the paper, but with an entry for each word: no race is missed
#: because words share one.
_PARAMS = SCORD.presets["scord-nocache"].params


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """Verdicts of both oracles and of ScoRD on one run, or on several together.

    Parameters
    ----------
    races, scoped : RaceClasses
        Classes of race found by BARRACUDA's analysis and by the scope-aware oracle.
    spaces : frozenset of Space
        Memories in which the scope-aware oracle found them.
    scord : frozenset of str
        Kinds of race that ScoRD reports.
    """

    races: RaceClasses = frozenset()
    scoped: RaceClasses = frozenset()
    spaces: frozenset[Space] = frozenset()
    scord: frozenset[str] = frozenset()

    def __or__(self, other: CaseOutcome) -> CaseOutcome:
        return CaseOutcome(
            self.races | other.races,
            self.scoped | other.scoped,
            self.spaces | other.spaces,
            self.scord | other.scord,
        )


def _verdict(result: Result) -> RaceClasses:
    classes = frozenset(race.race_class.value for race in result.races)
    return classes | (BARRIER_DIVERGENCE if result.barrier_divergences else frozenset())


def analyse(trace: Trace) -> CaseOutcome:
    """Run both oracles and the golden model of ScoRD over a trace."""
    scoped = ScopedOracle().run(trace)
    region = trace.header.region
    scord = Scord(_PARAMS, Region(region.data_base, region.size_log2, 0))
    for event in trace:
        scord.run(event)
    return CaseOutcome(
        races=_verdict(Barracuda().run(trace)),
        scoped=_verdict(scoped),
        spaces=frozenset(race.space for race in scoped.races),
        scord=frozenset(race_words(report.race) for report in scord.races),
    )


@cache
def outcome_of(name: str) -> CaseOutcome:
    """Outcome of a case over all schedules, run once however many tests look at it: every race
    that occurs in one of them."""
    outcome = CaseOutcome()
    for scheduler, seed in SCHEDULES:
        outcome |= analyse(capture(CASES[name], scheduler, seed))
    return outcome
