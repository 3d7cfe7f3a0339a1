"""Findings as one HTML page: of each race a timeline, its cure, and both accesses in their sources.

The page needs no network and no other file.  Its content security policy allows only its own
script, so that even an escaping error could not run code from a source.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from racetrap.presenters.coloured_source import coloured_excerpt
from racetrap.presenters.explanations import explanation
from racetrap.presenters.findings import ADVICE, Findings
from racetrap.presenters.line_pairs import (
    counts_text,
    exposure_text,
    race_sentence,
    side_text,
    stack_texts,
)
from racetrap.presenters.page import page_environment
from racetrap.presenters.race_findings import explaining_lines, other_pair_text
from racetrap.presenters.timeline import timeline_drawing
from racetrap.verdict.codes import code_of, codes
from racetrap.verdict.line_pairs import LineRace, Side
from racetrap.verdict.race_findings import RaceFinding, kind_of
from racetrap.verdict.source_text import marked_line, relative_place, source_line

#: Lines shown before and after that of an access.
_CONTEXT = 6


def findings_page(title: str, command: str, findings: Findings) -> str:
    """The page; all values are escaped.

    Parameters
    ----------
    title : str
        Subject of the check.
    command : str
        The command that reproduces it.
    findings : Findings
        What was found.
    """
    script = (Path(__file__).parent / "findings.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    races = [
        _race(finding, findings.schedules, f"race-{number}")
        for number, finding in enumerate(findings.races)
    ]
    return page_environment().get_template("findings.html").render(
        title=title, command=command, races=races, others=findings.other_lines,
        advice=[
            f"{relative_place(pair.first.later.place)}: {ADVICE[kind]}: "
            f"{race_sentence(pair.first, 'and')} [{code_of(kind)}]"
            for kind, pairs in findings.advice.items() for pair in pairs
        ],
        summary=[*findings.opening, *findings.summary], notes=findings.notes,
        kinds=sorted({race["kind"] for race in races}),
        script=script, digest=digest,
    )  # fmt: skip


def _race(finding: RaceFinding, schedules: int, name: str) -> dict[str, Any]:
    first, pair = finding.first, finding.pairs[0]
    return {
        "place": relative_place(first.later.place),
        "sentence": race_sentence(first),
        "short": f"{first.later.access} races with {first.earlier.access}",
        "kind": kind_of(first),
        "code": finding.code,
        "title": codes()[finding.code].title,
        "explanation": explanation(codes()[finding.code]),
        "explaining": explaining_lines(finding),
        "others": [other_pair_text(finding, number) for number in range(1, len(finding.pairs))],
        "instances": finding.instances,
        "counts": counts_text(pair, schedules),
        "exposure": exposure_text(pair.exposure) if pair.exposure else "",
        "drawing": first.timeline and timeline_drawing(first.timeline, name),
        "diff": _diff(finding.cure.diff) if finding.cure else [],
        "sides": _sides(first),
    }


def _sides(race: LineRace) -> list[dict[str, Any]]:
    """Both accesses in their sources; as one if they are of one line."""
    earlier, later = (_side(name, side) for name, side in race.sides)
    if race.earlier.chain != race.later.chain or race.earlier.place != race.later.place:
        return [earlier, later]
    texts = [f"{name}: {side_text(side)}" for name, side in race.sides]
    return [{**later, "name": "Both accesses", "texts": texts}]


def _side(name: str, side: Side) -> dict[str, Any]:
    """An access in its source."""
    return {
        "name": name.capitalize(),
        "texts": [side_text(side)],
        "calls": [
            {"text": text, "source": source_line(place).strip()}
            for text, place in stack_texts(side)
        ],
        "lines": coloured_excerpt(side.place, _CONTEXT),
        "caret": marked_line(side.place, side.column, side.width)[1:],
    }


#: Classes of the lines of a diff, by their beginnings.
_DIFF_LINES = {"+++": "hunk", "---": "hunk", "@@": "hunk", "+": "added", "-": "removed"}


def _diff(text: str) -> list[dict[str, str]]:
    """Lines of a diff."""
    return [
        {
            "text": line,
            "style": next((_DIFF_LINES[each] for each in _DIFF_LINES if line.startswith(each)), ""),
        }
        for line in text.splitlines()
    ]
