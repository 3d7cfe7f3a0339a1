"""Findings for tests: races between lines of a file."""

from collections import Counter

from racetrap.evaluation.scord.line_pairs import LinePair
from racetrap.golden_model.barracuda import Party, Race, RaceClass, RaceKind
from racetrap.golden_model.events import EventKind, Space

__all__ = ["line_pair"]


def line_pair(earlier: str, later: str, instances: int = 1) -> LinePair:
    """A finding between two places."""
    parties = (Party(0, 1, 0x40, EventKind.LOAD, 3), Party(2, 3, 0x48, EventKind.STORE, 4))
    kind, race_class = RaceKind.UNORDERED, RaceClass.INTER_BLOCK
    race = Race(kind, race_class, Space.GLOBAL, 0x100, *parties)
    counts = Counter({kind: instances}), Counter({race_class: instances})
    return LinePair(earlier, later, race, *counts, block_pairs=1, schedules={0})
