"""Races that the exact oracle finds in a run, and what a detector made of each.

Ref: ScoRD (ISCA'20) Section V-A; BARRACUDA (PLDI'17) Section 3; PTX ISA 9.0, Section 8.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from racetrap.evaluation.scord.detect import UniqueRace, region_of
from racetrap.evaluation.scord.missed import Cause, Pair, causes
from racetrap.golden_model.barracuda import Race, RaceClass, Result, ScopedOracle
from racetrap.golden_model.events import Space
from racetrap.golden_model.ptx_memory_model.oracle import OracleRule, PtxOracle
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.trace import Trace

__all__ = [
    "JUDGE",
    "NOT_CHECKED",
    "ORACLE_RULES",
    "OracleRace",
    "explain_races",
    "is_missed",
    "oracle_races",
    "run_oracle",
    "unconfirmed",
]

#: Rules by which the oracle can judge; the first is that of the paper's tables.
ORACLE_RULES = ("scoped", "cuda", *(rule.value for rule in OracleRule))
#: The rule whose verdict counts where none is asked for.
JUDGE = "cuda"

#: Outcome of races that ScoRD does not look for, by what they are.
NOT_CHECKED = {
    "warp": "inside a warp",
    "shared": "in shared memory",
    "outside": "outside the monitored region",
    "launches": "between concurrent launches",
}


@dataclass(frozen=True)
class OracleRace:
    """A race of the oracle.

    Parameters
    ----------
    race : Race
        The race.
    outcome : str
        What the detector made of it: a ``Cause``, or one of ``NOT_CHECKED``.
    """

    race: Race
    outcome: str


def run_oracle(trace: Trace, rule: str) -> Result:
    """Races of a run by one of ``ORACLE_RULES``."""
    if rule in ("scoped", "cuda"):
        return ScopedOracle(fences_order_weak=rule == "cuda").run(trace)
    return PtxOracle(OracleRule(rule)).run(trace)


def oracle_races(
    trace: Trace, params: ScordParams, rule: str = ORACLE_RULES[0]
) -> list[OracleRace]:
    """Every different race of a run, in the order in which they first happened.

    Parameters
    ----------
    trace : Trace
        The run.
    params : ScordParams
        Configuration of the detector.
    rule : str
        What is a race: one of ``ORACLE_RULES``.
    """
    return explain_races(trace, params, run_oracle(trace, rule))


def explain_races(trace: Trace, params: ScordParams, races: Sequence[Race]) -> list[OracleRace]:
    """What the detector made of races of a run."""
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
    return [
        OracleRace(race, NOT_CHECKED[kind] if kind else next(found).value)
        for race, kind in zip(races, kinds, strict=True)
    ]


def unconfirmed(reports: Iterable[UniqueRace], found: Iterable[OracleRace]) -> list[UniqueRace]:
    """Reports of a detector at an instruction for which the oracle has no race."""
    racing = {pc for each in found for pc in (each.race.first.pc, each.race.second.pc)}
    return sorted(report for report in reports if report[0] not in racing)


def is_missed(found: OracleRace) -> bool:
    """Whether the detector was to find the race and did not."""
    return found.outcome not in (Cause.REPORTED, *NOT_CHECKED.values())
