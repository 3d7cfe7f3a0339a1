"""Races of a program for Table 7: found by each detector, existing and injected ones.

Ref: SigRace (ISCA'09) Section 5.4.1, Table 7; Section 5.5, Fig. 10(a).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.happens_before.race import ThreadRace
from racetrap.golden_model.reenact.reenact import Reenact
from racetrap.golden_model.sigrace.missed import RaceOutcome, race_outcomes
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.result import FirstRace, SigraceStatistics
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.injection import inject
from racetrap.sim.cpu.sigrace.compiled_sigrace import run_sigrace
from racetrap.verdict.threads.oracle import unconfirmed


@dataclass(frozen=True)
class RaceCount:
    """Races: pairs of instructions, and their instances.

    Parameters
    ----------
    static, dynamic : int
        Different pairs of instructions; different addresses, threads and epochs of them.
    """

    static: int
    dynamic: int

    @classmethod
    def of(cls, races: Iterable[ThreadRace]) -> RaceCount:
        """Count of some different races."""
        races = list(races)
        return cls(len({race.static_key for race in races}), len(races))


@dataclass(frozen=True)
class Existing:
    """Races of a program as it was recorded.

    Parameters
    ----------
    exact, ideal, sigrace, reenact : RaceCount
        By the oracle, Ideal SigRace, SigRace and W-ReEnact.
    false_sharing : int
        Dynamic races of ``exact`` whose accesses are to different bytes of a granule.
    unreal : int
        Races that SigRace or Ideal SigRace reports and the oracle does not.
    outcomes : mapping of str to int
        Outcomes of the oracle's races.
    false_positives, conflicts : int
        Conflicts analysed without a race, and all that the RDM has found.
    statistics : SigraceStatistics
        Counts of SigRace's run.
    """

    exact: RaceCount
    ideal: RaceCount
    sigrace: RaceCount
    reenact: RaceCount
    false_sharing: int
    unreal: int
    outcomes: Mapping[str, int]
    false_positives: int
    conflicts: int
    statistics: SigraceStatistics


@dataclass(frozen=True)
class Injected:
    """A run without one of its synchronisations.

    Counted are races whose two instructions do not race in the program as it was recorded.

    Parameters
    ----------
    removed : str
        The synchronisation that was taken out.
    exact, sigrace, reenact : RaceCount
        Races by each detector.
    unreal : int
        Races that SigRace reports and the oracle does not, of all races.
    outcomes : mapping of str to int
        Outcomes of the oracle's races.
    first_race : FirstRace or None
        SigRace's costs until its first race, of all races.
    """

    removed: str
    exact: RaceCount
    sigrace: RaceCount
    reenact: RaceCount
    unreal: int
    outcomes: Mapping[str, int]
    first_race: FirstRace | None


def existing_races(trace: ThreadTrace, params: SigraceParams) -> Existing:
    """Races of a program, by all detectors."""
    exact = HappensBefore().run(trace)
    found = run_sigrace(Sigrace(params), trace)
    ideal = run_sigrace(Sigrace(params, unbounded=True), trace)
    reports = {*found.races, *ideal.races}
    return Existing(
        exact=RaceCount(len(exact.static), exact.dynamic),
        ideal=RaceCount.of(ideal.races),
        sigrace=RaceCount.of(found.races),
        reenact=RaceCount.of(Reenact(params.cores).run(trace)),
        false_sharing=len(exact.false_sharing),
        unreal=len(unconfirmed(reports, exact)),
        outcomes=_counts(race_outcomes(exact, found, ideal).values()),
        false_positives=found.false_positives,
        conflicts=found.conflicts,
        statistics=found.statistics,
    )


def injected_races(
    trace: ThreadTrace, known: frozenset[tuple[int, int]], params: SigraceParams, seed: int
) -> Injected | None:
    """Races after one synchronisation was taken out.

    Ideal SigRace and W-ReEnact run only if there is something to find.

    Parameters
    ----------
    trace : ThreadTrace
        The program as it was recorded.
    known : frozenset of (int, int)
        Its static races.
    params : SigraceParams
        Configuration.
    seed : int
        Chooses the synchronisation.

    Returns
    -------
    Injected or None
        None if there is nothing to take out.
    """
    injection = inject(trace, seed)
    if injection is None:
        return None
    exact = HappensBefore().run(injection.trace)
    found = run_sigrace(Sigrace(params), injection.trace)
    became, cached = {}, []
    if exact.static - known:
        ideal = run_sigrace(Sigrace(params, unbounded=True), injection.trace)
        became = race_outcomes(exact, found, ideal)
        cached = Reenact(params.cores).run(injection.trace)
    return Injected(
        removed=str(injection),
        exact=RaceCount(
            len(exact.static - known), sum(race.static_key not in known for race in exact.races)
        ),
        sigrace=RaceCount.of(race for race in found.races if race.static_key not in known),
        reenact=RaceCount.of(race for race in cached if race.static_key not in known),
        unreal=len(unconfirmed(found.races, exact)),
        outcomes=_counts(
            outcome for race, outcome in became.items() if race.static_key not in known
        ),
        first_race=found.statistics.first_race,
    )


def _counts(found: Iterable[RaceOutcome]) -> dict[str, int]:
    return {str(outcome): count for outcome, count in Counter(found).items()}
