"""What a case of the concurrency suite is.

Ref: BARRACUDA (PLDI'17) Section 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "BARRIER_DIVERGENCE",
    "DIVERGENCE",
    "INTER_BLOCK",
    "INTRA_BLOCK",
    "NONE",
    "Case",
    "RaceClasses",
]

#: Classes of the races found in a run; empty if there is none.
RaceClasses = frozenset[str]

NONE: RaceClasses = frozenset()
DIVERGENCE: RaceClasses = frozenset({"divergence"})
INTRA_BLOCK: RaceClasses = frozenset({"intra-block"})
INTER_BLOCK: RaceClasses = frozenset({"inter-block"})
BARRIER_DIVERGENCE: RaceClasses = frozenset({"barrier divergence"})


@dataclass(frozen=True, slots=True)
class Case:
    """A small kernel with the verdicts that are right for it.

    Every kernel has the arguments ``(int *data, int *sync)``, both zero at launch.

    Parameters
    ----------
    name : str
        Name of case and kernel.
    races : RaceClasses
        Classes of race that BARRACUDA's analysis finds, over all schedules together.
    reason : str
        Why, in one line.
    source : str
        File of the kernel, without suffix.
    grid, block : int or tuple of int
        Shape of the launch.
    scoped : RaceClasses, optional
        What the scope-aware oracle finds, if that is something else.
    scoped_reason : str
        Why it differs.
    scord_reason : str
        Why ScoRD's verdict is not the scope-aware oracle's, if it is not.
    dynamic_shared : int
        Bytes of dynamic shared memory.
    launches : int
        Launches of the kernel, one after the other.

    Raises
    ------
    ValueError
        If the oracles' verdicts differ without a reason, or the other way round.
    """

    name: str
    races: RaceClasses
    reason: str
    source: str = field(kw_only=True)
    grid: int | tuple[int, ...] = field(kw_only=True)
    block: int | tuple[int, ...] = field(kw_only=True)
    scoped: RaceClasses | None = field(default=None, kw_only=True)
    scoped_reason: str = field(default="", kw_only=True)
    scord_reason: str = field(default="", kw_only=True)
    dynamic_shared: int = field(default=0, kw_only=True)
    launches: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        if (self.scoped_races != self.races) != bool(self.scoped_reason):
            raise ValueError(
                f"Case scoped_reason must be given where the verdicts differ and only there, "
                f"not {self.scoped_reason!r} for {self.name}"
            )

    @property
    def scoped_races(self) -> RaceClasses:
        """Classes of race that the scope-aware oracle finds."""
        return self.races if self.scoped is None else self.scoped

    @property
    def shape(self) -> dict[str, Any]:
        """Arguments of a launch that give its shape."""
        return {
            "grid": self.grid,
            "block": self.block,
            "dynamic_shared": self.dynamic_shared,
        }
