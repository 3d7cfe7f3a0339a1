"""Findings as one HTML page: both accesses of each race side by side in their sources.

The page needs no network and no other file.  Its content security policy allows only its own
script, so that even an escaping error could not run code from a source.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from racetrap.presenters.explanations import explanation
from racetrap.presenters.findings import Findings
from racetrap.presenters.line_pairs import (
    counts_text,
    exposure_text,
    race_sentence,
    side_text,
    stack_text,
)
from racetrap.presenters.page import page_environment
from racetrap.presenters.race_findings import explaining_lines, other_pair_text
from racetrap.verdict.codes import codes
from racetrap.verdict.race_findings import RaceFinding, kind_of
from racetrap.verdict.source_text import excerpt, marked_line, relative_place

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
    races = [_race(finding, findings.schedules) for finding in findings.races]
    return page_environment().get_template("findings.html").render(
        title=title, command=command, races=races, others=findings.other_lines,
        summary=[*findings.opening, *findings.summary, *findings.notes],
        kinds=sorted({race["kind"] for race in races}),
        script=script, digest=digest,
    )  # fmt: skip


def _race(finding: RaceFinding, schedules: int) -> dict[str, Any]:
    first, pair = finding.first, finding.pairs[0]
    return {
        "place": relative_place(first.later.place),
        "sentence": race_sentence(first),
        "kind": kind_of(first),
        "code": finding.code,
        "title": codes()[finding.code].title,
        "explanation": explanation(codes()[finding.code]),
        "explaining": explaining_lines(finding),
        "others": [other_pair_text(finding, number) for number in range(1, len(finding.pairs))],
        "instances": finding.instances,
        "counts": counts_text(pair, schedules),
        "exposure": exposure_text(pair.exposure) if pair.exposure else "",
        "sides": [
            {
                "name": name,
                "text": side_text(side),
                "calls": stack_text(side),
                "lines": excerpt(side.place, _CONTEXT),
                "caret": marked_line(side.place, side.column)[1:],
            }
            for name, side in first.sides
        ],
    }
