"""Baseline: known races, each with a reason, which do not count.

A known race is two lines by file and text, so that it still matches after lines above have moved.
The format is described in ``docs/cuda-programs.md``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from racetrap.sim.toml_file import Table, TomlFile, read_toml
from racetrap.verdict.line_pairs import DividedPairs, LinePair
from racetrap.verdict.source_text import relative_place, source_line

#: File and text of a line.
_Line = tuple[str, str]
_WRITTEN_REASON = "known when the baseline was written"


def line_texts(places: Iterable[str]) -> frozenset[_Line]:
    """Files and texts of lines; a place without text represents itself."""
    return frozenset(map(_line_text, places))


def _line_text(place: str) -> _Line:
    return relative_place(place).rpartition(":")[0], source_line(place).strip() or place


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("words")
    return text


class _KnownLine(Table):
    """A line by its file and its text."""

    file: str
    text: str


class KnownRace(Table):
    """Two lines that race, and the reason to accept it."""

    earlier: _KnownLine
    later: _KnownLine
    reason: Annotated[str, AfterValidator(_said)]

    @property
    def lines(self) -> frozenset[_Line]:
        """Files and texts of both lines."""
        return frozenset((each.file, each.text) for each in (self.earlier, self.later))


class Baseline(TomlFile):
    """Known races.

    Parameters
    ----------
    race : list of KnownRace
        The races.
    """

    race: list[KnownRace] = Field(default_factory=list)

    @cached_property
    def _known(self) -> frozenset[frozenset[_Line]]:
        return frozenset(race.lines for race in self.race)

    def knows(self, places: Iterable[str]) -> bool:
        """Whether a race between two places is known."""
        return line_texts(places) in self._known

    def divide(self, pairs: Iterable[LinePair]) -> DividedPairs:
        """Findings that are new, those that are known, and known races that were not found."""
        new: list[LinePair] = []
        old: list[LinePair] = []
        found = set()
        for pair in pairs:
            lines = line_texts(pair.first.places)
            (old if lines in self._known else new).append(pair)
            found.add(lines)
        return DividedPairs(new, old, [race for race in self.race if race.lines not in found])


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file.

    Raises
    ------
    TomlError
        If the file breaks a rule of the format.
    OSError
        If it cannot be read.
    """
    return read_toml(path, Baseline)


def baseline_text(pairs: Iterable[LinePair]) -> str:
    """Text of a baseline file in which all findings are known."""
    return "".join(
        f"[[race]]\nearlier = {_line(pair.first.earlier.innermost)}\n"
        f"later = {_line(pair.first.later.innermost)}\n"
        f"reason = {json.dumps(_WRITTEN_REASON)}\n\n"
        for pair in pairs
    )


def _line(place: str) -> str:
    # A JSON string is a TOML string.
    file, text = map(json.dumps, _line_text(place))
    return f"{{ file = {file}, text = {text} }}"
