"""Limit of a detector: a known miss or false report, and the figures that count it."""

from __future__ import annotations

from typing import NamedTuple

from racetrap.evaluation.history.figures import OUTCOME

__all__ = ["Limit", "counted"]


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
