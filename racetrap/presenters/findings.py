"""Findings of a check, for every report: page, SARIF, JUnit, annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rich.console import Console

from racetrap.presenters.line_pairs import (
    advice_text,
    annotation,
    number_text,
    race_sentence,
    seen_text,
    times_text,
)
from racetrap.presenters.printable import printable
from racetrap.presenters.race_choice import RaceChoice
from racetrap.presenters.race_findings import findings_text, object_text, race_line
from racetrap.verdict.codes import code_of, level_of
from racetrap.verdict.line_pairs import DividedPairs, LinePair, LineRace
from racetrap.verdict.race_findings import RaceFinding, kind_of, race_findings
from racetrap.verdict.source_text import relative_place, split_place

if TYPE_CHECKING:
    from racetrap.verdict.baseline import KnownRace

#: What pairs that are no races are, by kind.
ADVICE = {
    "unordered-strong": "unordered, but no race", "lockstep": "only lockstep orders these",
}  # fmt: skip


@dataclass(frozen=True)
class Findings:
    """Findings of a check.

    Parameters
    ----------
    pairs : sequence of LinePair
        Races by pair of source lines, those with the most instances first.
    summary : sequence of str
        Findings and amounts checked, in sentences.
    others : mapping of str to sequence of str
        Other problems, by kind in a word; a kind without sentences passed.
    schedules : int
        Number of runs checked.
    advice : mapping of str to sequence of LinePair
        Pairs that are no races, by their kind in a word that has a code.
    opening : sequence of str
        What is printed first: what the runs cannot show.
    notes : sequence of str
        What is printed only if it is asked for.
    """

    pairs: Sequence[LinePair]
    summary: Sequence[str]
    others: Mapping[str, Sequence[str]] = field(default_factory=dict)
    schedules: int = 1
    advice: Mapping[str, Sequence[LinePair]] = field(default_factory=dict)
    opening: Sequence[str] = ()
    notes: Sequence[str] = ()

    @cached_property
    def races(self) -> list[RaceFinding]:
        """Races by bug."""
        return race_findings(self.pairs)

    @property
    def other_lines(self) -> dict[str, list[str]]:
        """Other problems, each with its code."""
        return {
            name: [f"{sentence} [{code_of(name)}]" for sentence in sentences]
            for name, sentences in self.others.items()
        }

    @property
    def cases(self) -> dict[str, str | None]:
        """Problem of each test case, for JUnit; ``None`` if it passed."""
        races = [race_line(finding) for finding in self.races]
        cases = {"races": races, **self.other_lines}
        return {name: "\n".join(sentences) or None for name, sentences in cases.items()}


def known_sentences(known: Sequence[LinePair], not_found: Sequence[KnownRace]) -> list[str]:
    """Effect of a baseline: its races that were found, and those that were not."""
    sentences = []
    if known:
        instances = sum(pair.instances for pair in known)
        sentences.append(
            f"Known: {number_text(len(known), 'pair')} of source lines of the baseline, "
            f"seen {times_text(instances)}."
        )
    return sentences + [
        f"Not found: race of the baseline at {race.later.file}: {race.later.text}"
        for race in not_found
    ]


def run_findings(
    pairs: DividedPairs, summary: Sequence[str], others: Mapping[str, Sequence[str]] | None = None
) -> Findings:
    """Findings of one run, with a summary, and the effect of a baseline."""
    known = known_sentences(pairs.known, pairs.not_found)
    return Findings(pairs.new, [*summary, *known], others or {})


def print_findings(console: Console, findings: Findings, choice: RaceChoice) -> None:
    """Print the findings, then the summary, and the notes if they are chosen."""
    lines = [*findings.opening, *findings_text(findings.races, choice, findings.schedules)]
    for kind, pairs in findings.advice.items():
        lines += advice_text(pairs, choice, findings.schedules, ADVICE[kind], code_of(kind))
    for sentences in findings.other_lines.values():
        lines += sentences
    lines += findings.summary
    console.print("\n".join(lines + [*findings.notes] * choice.shows_notes), markup=False)


def finding_rows(findings: Findings) -> list[dict[str, Any]]:
    """Findings as rows of a table: the code, the place, and what is wrong on which object."""
    rows = []
    for finding in findings.races:
        race = finding.first
        memory = race.memory_object
        rows.append({
            "code": finding.code, "level": level_of(kind_of(race)),
            "place": relative_place(race.later.place),
            "finding": race_sentence(race),
            "object": object_text(memory, race.element, race.details) if memory else "",
            "instances": finding.instances,
        })  # fmt: skip
    for name, sentences in findings.others.items():
        for place, text in map(split_place, sentences):
            rows.append({
                "code": code_of(name), "level": level_of(name), "place": place, "finding": text,
                "object": "", "instances": 1,
            })  # fmt: skip
    return rows


def annotation_lines(findings: Findings) -> str:
    """Findings as GitHub's workflow commands, one per line."""
    lines = []
    for finding in findings.races:
        text = f"{race_sentence(finding.first)} ({seen_text(finding)})"
        lines.append(annotation(finding.code, *_place(finding.first), text))
    for name, sentences in findings.others.items():
        for sentence in sentences:
            place, text = split_place(sentence)
            lines.append(annotation(code_of(name), place, 0, text))
    for kind, pairs in findings.advice.items():
        for pair in pairs:
            text = f"{ADVICE[kind]}: {race_sentence(pair.first, 'and')}"
            lines.append(annotation(code_of(kind), *_place(pair.first), text, is_advice=True))
    return "".join(f"{printable(line)}\n" for line in lines)


def _place(race: LineRace) -> tuple[str, int]:
    """Place and column of a race."""
    return race.later.place, race.later.column
