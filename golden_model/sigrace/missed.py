"""What SigRace made of every race that is really there, and why it missed those that it did.

Ref: SigRace (ISCA'09) Sections 3.2 (overflow), 4.2 (library code), 5.3 and 5.4.1 (Ideal SigRace).
"""

from __future__ import annotations

from enum import StrEnum

from racetrap.golden_model.happens_before.happens_before import HappensBeforeResult
from racetrap.golden_model.happens_before.race import ThreadRace
from racetrap.golden_model.sigrace.result import SigraceResult

__all__ = ["Outcome", "outcomes"]


class Outcome(StrEnum):
    """What became of a race."""

    REPORTED = "reported"
    ATOMIC = "missed: one access is atomic, which is not collected"
    CHECKPOINT = "missed: a checkpoint lies between the accesses"
    OVERFLOW = "missed: the block had left its full queue"
    LOG_FULL = "missed: the conflict log was full"
    OVERFLOW_OR_LOG_FULL = "missed: queue overflow or full conflict log"


def outcomes(
    exact: HappensBeforeResult, found: SigraceResult, ideal: SigraceResult
) -> dict[ThreadRace, Outcome]:
    """Outcome of every race of the exact detector, in its order.

    Ideal SigRace misses only what no hardware of this kind can see; what it finds and SigRace
    does not has been lost to a limit of the hardware.

    Parameters
    ----------
    exact : HappensBeforeResult
        Races that are there.
    found, ideal : SigraceResult
        Of SigRace, and of Ideal SigRace with the same checkpoints, on the same trace.
    """
    reported, possible = set(found.races), set(ideal.races)

    def outcome(race: ThreadRace) -> Outcome:
        if race in reported:
            return Outcome.REPORTED
        if race in exact.involves_atomic:
            return Outcome.ATOMIC
        if race not in possible:
            return Outcome.CHECKPOINT
        one, other = race.first.thread, race.second.thread
        lost = found.statistics.lost
        has_overflowed = (one, other) in lost or (other, one) in lost
        if not found.statistics.conflicts_dropped:
            return Outcome.OVERFLOW
        return Outcome.OVERFLOW_OR_LOG_FULL if has_overflowed else Outcome.LOG_FULL

    return {race: outcome(race) for race in exact.races}
