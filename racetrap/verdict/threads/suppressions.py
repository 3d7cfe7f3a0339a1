"""Suppressions: known races between threads, by their places in the sources.

A line of the file is a pattern of places (`bank.c:12`, `bank.c:*`, `list*`), or two of them, one
for each access.  `#` begins a comment.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from pathlib import Path


class Suppressions:
    """Patterns of places, with a record of matches.

    Parameters
    ----------
    patterns : sequence of tuple of str
        One or two patterns each.
    """

    def __init__(self, patterns: Sequence[tuple[str, ...]] = ()) -> None:
        self._patterns = patterns
        self._matched: set[tuple[str, ...]] = set()

    def match(self, places: Collection[str]) -> bool:
        """Whether a single pattern matches one of the places, or a pair one place each."""
        for patterns in self._patterns:
            if _match(patterns, places):
                self._matched.add(patterns)
                return True
        return False

    @property
    def unused(self) -> list[str]:
        """Patterns that have not been the first to match anything."""
        return [" ".join(patterns) for patterns in self._patterns if patterns not in self._matched]


def _match(patterns: tuple[str, ...], places: Collection[str]) -> bool:
    if len(patterns) == 1:
        return any(fnmatchcase(place, patterns[0]) for place in places)
    ordered = list(places)
    return any(
        fnmatchcase(one, patterns[0]) and fnmatchcase(other, patterns[1])
        for at, one in enumerate(ordered)
        for other in ordered[:at] + ordered[at + 1 :]
    )


def read_suppressions(path: Path) -> Suppressions:
    """Suppressions of a file.

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        If a line has more than two patterns.
    """
    patterns = []
    for number, line in enumerate(path.read_text("utf-8-sig").splitlines(), start=1):
        words = tuple(line.partition("#")[0].split())
        if len(words) > 2:
            raise ValueError(
                f"{path}, line {number}: Suppression must be one or two patterns of places, "
                f"not {len(words)}"
            )
        if words:
            patterns.append(words)
    return Suppressions(patterns)
