"""Functional coverage: counts of named bins, and the reasons why some cannot be hit.

The model is independent of simulators: its subclasses observe a scoreboard, so every simulator can
use them, and results of runs are merged as JSON.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from racetrap.golden_model.checks import unknown_name


class BinCounts:
    """Counts of every bin.

    Parameters
    ----------
    bins : mapping of str to None
        Names of all bins, in the order of reports.
    unreachable : mapping of str to str
        Bins that no stimulus can hit, with the reason.

    Attributes
    ----------
    counts : Counter of str
        Hits by bin.
    """

    def __init__(self, bins: Mapping[str, None], unreachable: Mapping[str, str]):
        self._bins = bins
        self._unreachable = unreachable
        self.counts: Counter[str] = Counter()

    def hit(self, name: str, count: int = 1) -> None:
        """Count a bin by name; ``KeyError`` if there is no such bin."""
        if name not in self._bins:
            raise KeyError(unknown_name("coverage bin", name, self._bins, "the model has none"))
        self.counts[name] += count

    def to_json(self) -> dict[str, int]:
        """Hits of each bin that was hit."""
        return {name: count for name, count in sorted(self.counts.items()) if name in self._bins}

    def merge(self, counts: Mapping[str, int]) -> None:
        """Add the result of another run, as ``to_json`` gave it."""
        for name, count in counts.items():
            self.hit(name, count)

    @property
    def missed(self) -> list[str]:
        """Bins that can be hit and were not."""
        return [
            name for name in self._bins if name not in self._unreachable and not self.counts[name]
        ]

    def table(self) -> list[tuple[str, int, str]]:
        """Every bin with its hits and a remark: missed, or the reason why it cannot be hit."""
        return [
            (name, count, self._unreachable.get(name, "" if count else "missed"))
            for name in self._bins
            for count in (self.counts[name],)
        ]
