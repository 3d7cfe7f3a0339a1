"""Races that the exact oracle finds in a run, and what a detector made of each.

Ref: ScoRD (ISCA'20) Section V-A; BARRACUDA (PLDI'17) Section 3; PTX ISA 9.0, Section 8.7.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from racetrap.golden_model.barracuda import Race, RaceClass, Result, ScopedOracle
from racetrap.golden_model.events import EventKind, MemoryOrder, Space
from racetrap.golden_model.ptx_memory_model.oracle import OracleRule
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle import CompiledOracle
from racetrap.verdict.scord.detect import Reports, UniqueRace, region_of
from racetrap.verdict.scord.missed import Cause, Pair, causes

__all__ = [
    "ELSEWHERE",
    "JUDGE",
    "NOT_CHECKED",
    "ORACLE_RULES",
    "PAPER_RULE",
    "OracleRace",
    "explain_races",
    "imposed_by_method",
    "is_missed",
    "oracle_races",
    "ordered_by_lockstep",
    "racing_pairs",
    "run_oracle",
    "unconfirmed",
]

#: Rules by which the oracle can judge: the one whose verdict counts where none is asked for comes
#: first, and that of the paper's tables last.
ORACLE_RULES = (*(rule.value for rule in OracleRule), "scoped")
JUDGE, PAPER_RULE = ORACLE_RULES[0], ORACLE_RULES[-1]

#: Outcome of races that ScoRD does not look for, by what they are.
NOT_CHECKED = {
    "warp": "inside a warp",
    "shared": "in shared memory",
    "outside": "outside the monitored region",
    "launches": "between concurrent launches",
}

#: Outcome of races that ScoRD reports at one of their instructions, but not in the first instance.
ELSEWHERE = "reported in another instance"


@dataclass(frozen=True)
class OracleRace:
    """A race of the oracle.

    Parameters
    ----------
    race : Race
        The race.
    outcome : str
        What the detector made of it: a ``Cause``, ``ELSEWHERE``, or one of ``NOT_CHECKED``.
    """

    race: Race
    outcome: str


def run_oracle(trace: Trace, rule: str, independent: bool = False) -> Result:
    """Races of a run by one of ``ORACLE_RULES``.

    Parameters
    ----------
    trace : Trace
        The run.
    rule : str
        What is a race.
    independent : bool
        Whether the lanes of a warp are scheduled independently; to the paper's rule a warp is in
        lockstep.
    """
    if rule == PAPER_RULE:
        return ScopedOracle().run(trace)
    return CompiledOracle(OracleRule(rule), independent).run(trace)


def ordered_by_lockstep(trace: Trace, rule: str, found: Iterable[Race]) -> list[Race]:
    """Pairs that would race if the lanes of a warp were scheduled independently.

    Parameters
    ----------
    trace : Trace
        The run.
    rule : str
        What is a race.
    found : iterable of Race
        Races of the run in lockstep, which are left out.
    """
    if rule == PAPER_RULE:
        return []
    known = {_place(race) for race in found}
    return [race for race in run_oracle(trace, rule, True).races if _place(race) not in known]


def _place(race: Race) -> tuple[frozenset[int], Space]:
    return frozenset((race.first.pc, race.second.pc)), race.space


def oracle_races(
    trace: Trace, params: ScordParams, reports: Reports, rule: str = PAPER_RULE
) -> list[OracleRace]:
    """Every different race of a run, in the order in which they first happened.

    Parameters
    ----------
    trace : Trace
        The run.
    params : ScordParams
        Configuration of the detector.
    reports : Reports
        What the detector reported.
    rule : str
        What is a race: one of ``ORACLE_RULES``.
    """
    return explain_races(trace, params, run_oracle(trace, rule), reports)


def explain_races(
    trace: Trace, params: ScordParams, races: Sequence[Race], reports: Collection[UniqueRace]
) -> list[OracleRace]:
    """What the detector made of races of a run.

    Parameters
    ----------
    trace : Trace
        The run.
    params : ScordParams
        Configuration of the detector.
    races : sequence of Race
        Races of the oracle, each with its first instance.
    reports : collection of UniqueRace
        All that the detector reported: a race at whose instructions it has a report is not missed.
    """
    reported = {pc for pc, _ in reports}
    region = region_of(trace)
    kinds = [
        "warp" if race.race_class == RaceClass.DIVERGENCE
        else "launches" if race.race_class == RaceClass.INTER_LAUNCH
        else "shared" if race.space == Space.SHARED
        else "outside" if not region.contains(race.address)
        else ""
        for race in races
    ]  # fmt: skip
    monitored = [race for race, kind in zip(races, kinds, strict=True) if not kind]
    pairs = [Pair(race.first.event, race.second.event, race.address) for race in monitored]
    found = iter(causes(trace, params, pairs))
    explained = []
    for race, kind in zip(races, kinds, strict=True):
        outcome = NOT_CHECKED[kind] if kind else next(found).value
        if not kind and outcome != Cause.REPORTED and reported & {race.first.pc, race.second.pc}:
            outcome = ELSEWHERE
        explained.append(OracleRace(race, outcome))
    return explained


def unconfirmed(reports: Reports, racing: Iterable[tuple[int, int]]) -> list[UniqueRace]:
    """Reports of a detector, all of whose pairs of instructions the oracle has no race for."""
    pairs = set(map(frozenset, racing))
    return sorted(
        report for report, earlier in reports.items()
        if not any(frozenset((report[0], pc)) in pairs for pc in earlier)
    )  # fmt: skip


def racing_pairs(found: Iterable[Race]) -> set[tuple[int, int]]:
    """Program counters of both accesses of each race."""
    return {(race.first.pc, race.second.pc) for race in found}


def imposed_by_method(trace: Trace, rule: str, reports: Reports) -> list[UniqueRace]:
    """List unconfirmed reports that follow from the method, whatever orders the accesses: it asks
    for strong ones, as the paper's rule does, and for fences between them, since it knows no access
    that is relaxed, acquires or releases.

    Parameters
    ----------
    trace : Trace
        The run.
    rule : str
        Rule by which they are unconfirmed.
    reports : Reports
        The unconfirmed reports.
    """
    if not reports or rule == PAPER_RULE:
        return []
    left = unconfirmed(reports, racing_pairs(run_oracle(trace, PAPER_RULE)))
    events = trace.events
    has_order = (events["kind"] <= EventKind.ATOMIC) & (events["order"] != MemoryOrder.IMPLIED)
    ordered = set(np.unique(events["pc"][has_order]).tolist())
    return [
        report for report, earlier in reports.items()
        if report not in left or not ordered.isdisjoint((report[0], *earlier))
    ]  # fmt: skip


def is_missed(found: OracleRace) -> bool:
    """Whether the detector was to find the race and did not."""
    return found.outcome not in (Cause.REPORTED, ELSEWHERE, *NOT_CHECKED.values())
