"""Limit of a detector: a known miss or false report, and the figures that count it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

#: Name, unit and value of each figure.
Figures: TypeAlias = Iterator[tuple[str, str, float]]
#: Begins the end of the name of a figure that counts races by the detector's outcome.
OUTCOME = "races of the oracle, "


def outcome_figures(name: str, counts: Mapping[str, int]) -> Figures:
    """How many races there are of each outcome; none without races."""
    if total := sum(counts.values()):
        for outcome, count in counts.items():
            yield f"{name}: {OUTCOME}{outcome}", f"of {total}", count


class Limit(NamedTuple):
    """A limit of a detector.

    Parameters
    ----------
    name : str
        As the page names it.
    figures : tuple of str
        Ends of the names of the figures that count it.
    remark : str
        What they count besides, or why there are none.
    """

    name: str
    figures: tuple[str, ...] = ()
    remark: str = ""


def counted(name: str, *outcomes: str, remark: str = "") -> Limit:
    """A limit that reasons for a miss count."""
    return Limit(name, tuple(f"{OUTCOME}{outcome}" for outcome in outcomes), remark)
