"""Findings as SARIF 2.1.0, for code hosts and editors.

Ref: OASIS Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

from racetrap.presenters.explanations import sarif_rule
from racetrap.presenters.findings import ADVICE, Findings
from racetrap.presenters.line_pairs import race_sentence, seen_text
from racetrap.presenters.race_findings import explaining_lines
from racetrap.sim.gpu.editing.edits import Replacement
from racetrap.verdict.baseline import line_texts
from racetrap.verdict.cause import Cure
from racetrap.verdict.codes import code_of, codes
from racetrap.verdict.line_pairs import LinePair, LineRace, Side
from racetrap.verdict.race_findings import RaceFinding
from racetrap.verdict.source_text import relative_place, split_place

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def _uri(path: str) -> str:
    return Path(path).as_uri() if Path(path).is_absolute() else quote(path)


def _location(place: str, message: str = "", *, column: int = 0, width: int = 1) -> dict[str, Any]:
    path, _, line = relative_place(place).rpartition(":")
    found: dict[str, Any] = {}
    if line.isdecimal():
        found["physicalLocation"] = {
            "artifactLocation": {"uri": _uri(path)},
            "region": {"startLine": max(int(line), 1)}
            | ({"startColumn": column} if column else {})
            | ({"endColumn": column + width} if column and width > 1 else {}),
        }
    else:
        found["logicalLocations"] = [{"name": place}]
    if message:
        found["message"] = {"text": message}
    return found


def _side_location(side: Side, message: str = "") -> dict[str, Any]:
    return _location(side.place, message, column=side.column, width=side.width)


#: Levels of findings, as SARIF has them.
_LEVELS = {"race": "error", "fault": "error", "advice": "note"}


def _result(finding: RaceFinding) -> dict[str, Any]:
    race = finding.first
    words = [race_sentence(race), *explaining_lines(finding)]
    return {
        **_coded(finding.code),
        "message": {"text": f"{'; '.join(words)} ({seen_text(finding)})."},
        "locations": [_side_location(race.later)],
        "relatedLocations": [
            _side_location(race.earlier, f"{race.sides[0][0]} access"),
            *(
                _side_location(side, f"also {name} access")
                for pair in finding.pairs[1:]
                for name, side in pair.first.sides
            ),
        ],
        **_stacks(race),
        **_fixes(finding.cure),
        **_fingerprint(race),
    }


def _coded(code: str) -> dict[str, Any]:
    return {"ruleId": code, "level": _LEVELS[codes()[code].level]}


def _fingerprint(race: LineRace) -> dict[str, Any]:
    digest = hashlib.sha256(repr(sorted(line_texts(race.places))).encode()).hexdigest()
    return {"partialFingerprints": {"linePair/v1": digest}}


def _fixes(cure: Cure | None) -> dict[str, Any]:
    """The cure of a finding, if there is one."""
    if cure is None or not cure.edits:
        return {}
    changes = []
    for file, found in groupby(cure.replacements, key=lambda each: each.file):
        path, _, _ = relative_place(f"{file}:0").rpartition(":")
        changes.append({
            "artifactLocation": {"uri": _uri(path)},
            "replacements": list(map(_replacement, found)),
        })  # fmt: skip
    return {"fixes": [{"description": {"text": "; ".join(cure.words)}, "artifactChanges": changes}]}


def _replacement(replacement: Replacement) -> dict[str, Any]:
    return {
        "deletedRegion": {
            "startLine": replacement.line, "startColumn": replacement.column,
            "endLine": replacement.end_line, "endColumn": replacement.end_column,
        },
        "insertedContent": {"text": replacement.text},
    }  # fmt: skip


def _advice_result(kind: str, pair: LinePair) -> dict[str, Any]:
    """A pair that is no race."""
    race = pair.first
    text = f"{ADVICE[kind]}: {race_sentence(race, 'and')} ({seen_text(pair)})."
    return {
        **_coded(code_of(kind)),
        "message": {"text": text},
        "locations": [_side_location(race.later)],
        "relatedLocations": [_side_location(race.earlier, f"{race.sides[0][0]} access")],
        **_stacks(race),
        **_fingerprint(race),
    }


def _stacks(race: LineRace) -> dict[str, Any]:
    """Call stacks of both accesses, as far as they are known."""
    stacks = [
        {"message": {"text": f"{name} access"}, "frames": _frames(side)}
        for name, side in race.sides
        if side.stack
    ]
    return {"stacks": stacks} if stacks else {}


def _frames(side: Side) -> list[dict[str, Any]]:
    """Frames of a stack, the innermost first: each with the place that it has come to."""
    places = [side.place, *(frame.place for frame in side.stack)]
    frames = []
    for place, frame in zip(places, side.stack, strict=False):
        found = _side_location(side) if place == side.place else _location(place)
        frames.append({"location": found | {"message": {"text": frame.function}}})
    return frames


def _other_result(name: str, sentence: str) -> dict[str, Any]:
    """What is wrong besides races."""
    place, text = split_place(sentence)
    result = {**_coded(code_of(name)), "message": {"text": text}}
    return result | ({"locations": [_location(place)]} if place else {})


def sarif_log(findings: Findings) -> dict[str, Any]:
    """A log with one run: a result for each finding, advice last; a rule for each code of them."""
    results = list(map(_result, findings.races))
    results += [
        _other_result(name, each) for name, found in findings.others.items() for each in found
    ]
    results += [
        _advice_result(kind, each) for kind, found in findings.advice.items() for each in found
    ]
    rules = [sarif_rule(codes()[code]) for code in sorted({each["ruleId"] for each in results})]
    driver = {"name": "racetrap", "version": version("racetrap"), "rules": rules}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
