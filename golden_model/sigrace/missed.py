"""Outcome of every race of the oracle: reported by SigRace, or missed, with the cause.

Ref: SigRace (ISCA'09) Sections 3.2 (overflow), 4.2 (library code), 5.3 and 5.4.1 (Ideal SigRace).
"""

from __future__ import annotations

from enum import StrEnum

from racetrap.golden_model.happens_before.happens_before import HappensBeforeResult
from racetrap.golden_model.happens_before.race import ThreadRace
from racetrap.golden_model.sigrace.result import SigraceResult


class RaceOutcome(StrEnum):
    """Outcome of a race: reported, or why it was missed."""

    REPORTED = "reported"
    ATOMIC = "missed: one access is atomic, which is not collected"
    CHECKPOINT = "missed: a checkpoint lies between the accesses"
    OVERFLOW = "missed: the block had left its full queue"
    LOG_FULL = "missed: the conflict log was full"
    OVERFLOW_OR_LOG_FULL = "missed: queue overflow or full conflict log"


def race_outcomes(
    oracle: HappensBeforeResult, found: SigraceResult, ideal: SigraceResult
) -> dict[ThreadRace, RaceOutcome]:
    """Outcome of every race of the oracle, in its order.

    Ideal SigRace misses only what no such hardware can see; races that only Ideal SigRace finds are
    lost to a limit of the hardware.

    Parameters
    ----------
    oracle : HappensBeforeResult
        All races of the trace.
    found, ideal : SigraceResult
        Of SigRace, and of Ideal SigRace with the same checkpoints, on the same trace.
    """
    reported, possible = set(found.races), set(ideal.races)

    def outcome(race: ThreadRace) -> RaceOutcome:
        if race in reported:
            return RaceOutcome.REPORTED
        if race in oracle.involves_atomic:
            return RaceOutcome.ATOMIC
        if race not in possible:
            return RaceOutcome.CHECKPOINT
        one, other = race.first.thread, race.second.thread
        lost = found.statistics.lost
        has_overflowed = (one, other) in lost or (other, one) in lost
        if not found.statistics.conflicts_dropped:
            return RaceOutcome.OVERFLOW
        return RaceOutcome.OVERFLOW_OR_LOG_FULL if has_overflowed else RaceOutcome.LOG_FULL

    return {race: outcome(race) for race in oracle.races}
