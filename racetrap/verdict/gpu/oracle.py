"""Races that the exact oracle finds in a run, and a detector's outcome of each.

Ref: ScoRD (ISCA'20) Section V-A.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from racetrap.golden_model.barracuda import Race, RaceClass
from racetrap.golden_model.events import Space
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle import PAPER_RULE, run_oracle
from racetrap.verdict.gpu.detector_verdict import verdict_of
from racetrap.verdict.gpu.findings import Reports, UniqueRace

#: Outcome of races that a detector does not check, by their kind.
NOT_CHECKED = {
    "warp": "inside a warp",
    "shared": "in shared memory",
    "outside": "outside the monitored region",
    "launches": "between concurrent launches",
}

#: Outcome of races that a detector reports in the first instance, and of those that it reports at
#: one of their instructions, but not in the first instance.
REPORTED = "reported"
ELSEWHERE = "reported in another instance"


@dataclass(frozen=True)
class OracleRace:
    """A race of the oracle.

    Parameters
    ----------
    race : Race
        The race.
    outcome : str
        The detector's outcome: ``REPORTED``, ``ELSEWHERE``, one of ``NOT_CHECKED``, or the cause of
        the miss.
    """

    race: Race
    outcome: str


def oracle_races(
    trace: Trace, params: GpuParams, reports: Reports, rule: str = PAPER_RULE
) -> list[OracleRace]:
    """Every different race of a run, in the order in which they first happened.

    Parameters
    ----------
    trace : Trace
        The run.
    params : ScordParams
        Configuration of the detector.
    reports : Reports
        Reports of the detector.
    rule : str
        Rule of the oracle: one of ``ORACLE_RULES``.
    """
    independent = bool(trace.header.independent_threads)
    return explain_races(trace, params, run_oracle(trace, rule, independent), reports)


def explain_races(
    trace: Trace, params: GpuParams, races: Sequence[Race], reports: Collection[UniqueRace]
) -> list[OracleRace]:
    """Outcomes of races of a run with a detector.

    Parameters
    ----------
    trace : Trace
        The run.
    params : ScordParams
        Configuration of the detector.
    races : sequence of Race
        Races of the oracle, each with its first instance.
    reports : collection of UniqueRace
        All reports of the detector: a race with a report at its instructions is not missed.
    """
    reported = {pc for pc, _ in reports}
    found = verdict_of(params).outcomes(trace, params, races)
    explained = []
    for race, outcome in zip(races, found, strict=True):
        is_missed = outcome != REPORTED and outcome not in NOT_CHECKED.values()
        if is_missed and reported & {race.first.pc, race.second.pc}:
            outcome = ELSEWHERE
        explained.append(OracleRace(race, outcome))
    return explained


def unconfirmed(reports: Reports, racing: Iterable[tuple[int, int]]) -> list[UniqueRace]:
    """Reports of a detector for none of whose pairs of instructions the oracle has a race."""
    pairs = set(map(frozenset, racing))
    return sorted(
        report for report, earlier in reports.items()
        if not any(frozenset((report[0], pc)) in pairs for pc in earlier)
    )  # fmt: skip


def racing_pairs(found: Iterable[Race]) -> set[tuple[int, int]]:
    """Program counters of both accesses of each race."""
    return {(race.first.pc, race.second.pc) for race in found}


def not_checked(race: Race) -> str:
    """Outcome of a race that a detector of all of memory does not check: one of ``NOT_CHECKED``."""
    if race.race_class == RaceClass.INTER_LAUNCH:
        return NOT_CHECKED["launches"]
    return NOT_CHECKED["shared" if race.space == Space.SHARED else "outside"]


def is_missed(found: OracleRace) -> bool:
    """Whether the detector should have found the race and did not."""
    return found.outcome not in (REPORTED, ELSEWHERE, *NOT_CHECKED.values())
