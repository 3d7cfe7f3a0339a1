"""Detection quality of a configuration: what the golden model misses and reports wrongly."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Quality"]


@dataclass(frozen=True)
class Quality:
    """Counts over all runs of all workloads.

    Parameters
    ----------
    runs : int
        Runs.
    races : int
        Different races that are there, and that the detector looks for, summed over the runs.
    misses : int
        Those of them that it does not report.
    false_reports : int
        Reports, or analyses that were started, for which there is no race.
    """

    runs: int = 0
    races: int = 0
    misses: int = 0
    false_reports: int = 0

    def __add__(self, other: Quality) -> Quality:
        return Quality(
            self.runs + other.runs,
            self.races + other.races,
            self.misses + other.misses,
            self.false_reports + other.false_reports,
        )

    def figures(self) -> dict[str, Any]:
        """The counts by name."""
        return asdict(self)
