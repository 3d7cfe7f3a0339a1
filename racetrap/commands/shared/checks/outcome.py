"""Outcome of a check, besides what a baseline knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from racetrap.presenters.findings import Findings, known_sentences
from racetrap.verdict.line_pairs import LinePair, LinePairs, LineRace

if TYPE_CHECKING:
    from racetrap.verdict.baseline import Baseline


class Outcome(NamedTuple):
    """What a check has found.

    Parameters
    ----------
    findings : Findings
        What is printed and reported.
    known : list of LinePair
        Races of the baseline.
    document : dict
        What JSON says.
    """

    findings: Findings
    known: list[LinePair]
    document: dict[str, Any]


def line_findings(
    races: Iterable[LineRace], baseline: Baseline | None
) -> tuple[Findings, list[LinePair], Callable[[LineRace], bool]]:
    """Races by pair of lines, those that the baseline knows, and whether a race
    is none of these."""
    pairs = LinePairs()
    pairs.add(races)
    new, known, not_found = pairs.divide(baseline)
    places = {pair.first.places for pair in new}
    findings = Findings(new, known_sentences(known, not_found))
    return findings, known, lambda race: race.places in places
