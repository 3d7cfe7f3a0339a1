"""Findings of races: each bug with its cause, its object and its pairs of lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from racetrap.presenters.line_pairs import (
    chain_text,
    first_texts,
    pair_lines,
    pair_to_dict,
    race_sentence,
    seen_text,
)
from racetrap.presenters.race_choice import RaceChoice
from racetrap.schemas.gpu_races import (
    CureReplacement,
    RaceCure,
    RaceObject,
    SynchronisingInstruction,
)
from racetrap.sim.gpu.editing.edits import Replacement
from racetrap.verdict.cause import Cause, Instruction, MemoryObject
from racetrap.verdict.race_findings import RaceFinding, kind_of
from racetrap.verdict.source_text import relative_place


def race_line(finding: RaceFinding) -> str:
    """A finding in one line, which begins as compilers' messages do and ends with its code."""
    first = finding.first
    return f"{relative_place(first.later.place)}: race: {race_sentence(first)} [{finding.code}]"


def findings_text(findings: Sequence[RaceFinding], choice: RaceChoice, schedules: int) -> list[str]:
    """Findings, and the number of those omitted."""
    return first_texts(findings, choice, lambda each: "\n".join(_lines(each, schedules)))


def _lines(finding: RaceFinding, schedules: int) -> list[str]:
    first, *others = finding.pairs
    return [
        race_line(finding),
        *(f"  {line}" for line in explaining_lines(finding)),
        *pair_lines(first, schedules),
        *(f"  also {other_pair_text(finding, number)}" for number in range(1, len(others) + 1)),
        "",
    ]


def explaining_lines(finding: RaceFinding) -> list[str]:
    """Object and cause of a finding, as far as they are known."""
    race = finding.first
    lines = []
    if race.memory_object is not None:
        lines.append(f"object: {object_text(race.memory_object, race.element, race.details)}")
    if race.cause is not None and race.cause.changes:
        lines.append(f"cause: {cause_text(race.cause)}")
    return lines + _help_lines(finding)


def _help_lines(finding: RaceFinding) -> list[str]:
    """The cure of a finding, if one was looked for."""
    cure = finding.cure
    if cure is None:
        return []
    return [f"help: {words}" for words in cure.words] or [f"help: {cure.reason}"]


def other_pair_text(finding: RaceFinding, number: int) -> str:
    """One of the further pairs of lines, in a line."""
    pair = finding.pairs[number]
    race, memory = pair.first, pair.first.memory_object
    of = ""
    if memory is not None and memory != finding.first.memory_object:
        of = f" of `{memory.name}{race.element}`"
    return (
        f"{race.later.access} at {relative_place(race.later.place)} and {race.earlier.access} at "
        f"{relative_place(race.earlier.place)}{of}, {seen_text(pair)}"
    )


_LACKS = {
    "release": "no release at", "acquire": "no acquire at", "scope": "too narrow:",
}  # fmt: skip


def cause_text(cause: Cause) -> str:
    """Instructions that lack what is missing."""
    places = " and ".join(dict.fromkeys(map(_instruction_text, cause.changes)))
    late = f"; the {_instruction_text(cause.fence)} comes after it, too late" if cause.fence else ""
    return f"{_LACKS[cause.missing.value]} the {places}{late}"


def _instruction_text(instruction: Instruction) -> str:
    return f"{instruction.what} at {chain_text(instruction.chain)}"


def object_text(memory: MemoryObject, element: str, details: Mapping[str, Any]) -> str:
    """What both accesses access, in words, and with what else is known of the race."""
    at = relative_place(memory.place) if memory.place else ""
    name = f"`{memory.name}{element}`"
    if memory.space == "shared":
        of = f" of block {details['owner']}" if "owner" in details else ""
        return f"shared {name}{of}" + f" ({at})" * bool(at)
    bytes_text = f"{memory.size:,} byte{'s' * (memory.size != 1)}"
    if memory.origin.startswith("allocated"):
        made = f"{memory.origin}{f' at {at}' * bool(at)}, {bytes_text}"
        return f"{name}, {made}" if memory.name else made
    return f"{name} ({memory.origin}{f', {at}' * bool(at)}), {bytes_text}"


def finding_to_dict(finding: RaceFinding) -> dict[str, Any]:
    """A finding as plain data."""
    race = finding.first
    cause, memory = race.cause, race.memory_object
    return {
        "code": finding.code,
        "level": finding.level,
        "kind": kind_of(race),
        "sentence": race_sentence(race),
        "object": memory and _object_to_dict(memory, race.element),
        "missing": cause and cause.missing.value,
        "changes": [_change_to_dict(each) for each in cause.changes] if cause else [],
        "late_fence": cause and cause.fence and _change_to_dict(cause.fence),
        "cure": _cure_to_dict(finding),
        "instances": finding.instances,
        "pairs": [pair_to_dict(pair) for pair in finding.pairs],
    }


def _cure_to_dict(finding: RaceFinding) -> RaceCure | None:
    cure = finding.cure
    return (
        None
        if cure is None
        else {
            "edits": cure.words,
            "replacements": [_replacement_to_dict(each) for each in cure.replacements],
            "diff": cure.diff or None,
            "reason": cure.reason or None,
        }
    )


def _replacement_to_dict(replacement: Replacement) -> CureReplacement:
    file, _, _ = relative_place(f"{replacement.file}:0").rpartition(":")
    return {
        "file": file, "line": replacement.line, "column": replacement.column,
        "end_line": replacement.end_line, "end_column": replacement.end_column,
        "text": replacement.text,
    }  # fmt: skip


def _object_to_dict(memory: MemoryObject, element: str) -> RaceObject:
    return {
        "name": memory.name, "element": element, "origin": memory.origin,
        "place": relative_place(memory.place) or None, "bytes": memory.size, "space": memory.space,
    }  # fmt: skip


def _change_to_dict(instruction: Instruction) -> SynchronisingInstruction:
    place, *calls = map(relative_place, instruction.chain)
    return {"what": instruction.what, "place": place, "calls": calls, "pc": instruction.pc}
