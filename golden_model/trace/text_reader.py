"""Text form of a trace, reading: every line becomes an event, then the common rules apply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from racetrap.golden_model.events import ACCESS_KINDS, Event, EventKind, Space, TraceHeader
from racetrap.golden_model.scord.packets import AtomicOp, Scope
from racetrap.golden_model.trace.header import header_from_dict
from racetrap.golden_model.trace.records import Rule, TraceError
from racetrap.golden_model.trace.text_lanes import LineError, read_lanes, read_number
from racetrap.golden_model.trace.text_writer import FIRST_LINE, NUMBER_FIELDS
from racetrap.golden_model.trace.trace import Trace

__all__ = ["load_text"]

_KINDS = {kind.name.lower(): kind for kind in EventKind}
_PLAIN_KINDS = {EventKind.LOAD, EventKind.STORE}
_SCOPED = {*ACCESS_KINDS, EventKind.FENCE}
#: Bare words of an event line: field, value, and the kinds that use it.
_WORDS: dict[str, tuple[str, Any, set[EventKind]]] = {
    **{scope.name.lower(): ("scope", scope, _SCOPED) for scope in Scope},
    **{op.name.lower(): ("op", op, {EventKind.ATOMIC}) for op in AtomicOp},
    "strong": ("strong", True, _PLAIN_KINDS),
    "shared": ("space", Space.SHARED, {*ACCESS_KINDS}),
}
_ALL_NUMBERS = frozenset(name for names in NUMBER_FIELDS.values() for name in names)
_HEADER_WORDS = ("system", "geometry", "region", "source", "seed")
_LOCATION = "location"
#: Beginnings of lines with a quoted string, in which # is no comment.
_QUOTING = ("source ", f"{_LOCATION} ")


def _assignments(words: list[str]) -> dict[str, int]:
    values: dict[str, int] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise LineError(Rule.TEXT, f"Field must be name=number, not {word!r}")
        if name in values:
            raise LineError(Rule.TEXT, f"Field {name} must be given once, not again")
        values[name] = read_number(value)
    return values


def _words(kind: EventKind, words: list[str]) -> dict[str, Any]:
    """The bare words of an event line: scope, op, ``strong`` and ``shared``."""
    values: dict[str, Any] = {}
    for word in words:
        if word not in _WORDS:
            raise LineError(Rule.CODE, f"Word must be one of {', '.join(_WORDS)}, not {word!r}")
        name, value, users = _WORDS[word]
        if kind not in users:
            raise LineError(
                Rule.UNUSED_FIELD, f"Word {word} must not be given in {kind.name.lower()}"
            )
        if name in values:
            raise LineError(Rule.TEXT, f"Word for {name} must be given once, not again: {word!r}")
        values[name] = value
    if kind in _PLAIN_KINDS and "scope" in values and "strong" not in values:
        raise LineError(
            Rule.UNUSED_FIELD, f"Word for scope must not be given in a weak {kind.name.lower()}"
        )
    due = ("scope", "op") if kind == EventKind.ATOMIC else ("scope",)
    for name in due if kind in _SCOPED - _PLAIN_KINDS or "strong" in values else ():
        if name not in values:
            raise LineError(Rule.TEXT, f"Word for {name} must be given in {kind.name.lower()}")
    return values


def _parse_event(line: str) -> Event:
    """Event of one line without its comment."""
    word, *rest = line.split()
    kind = _KINDS.get(word)
    if kind is None:
        raise LineError(Rule.KIND, f"Kind must be one of {', '.join(_KINDS)}, not {word!r}")
    lane_words: list[str] = []
    if "lanes" in rest:
        at = rest.index("lanes")
        rest, lane_words = rest[:at], rest[at + 1 :]
        if kind not in ACCESS_KINDS:
            raise LineError(Rule.UNUSED_FIELD, f"Lanes must not be given in {word}")
    numbers = _assignments([field for field in rest if "=" in field])
    words = _words(kind, [field for field in rest if "=" not in field])
    for name in numbers:
        if name not in _ALL_NUMBERS:
            raise LineError(Rule.TEXT, f"Field must be one that events have, not {name!r}")
        if name not in NUMBER_FIELDS[kind]:
            raise LineError(Rule.UNUSED_FIELD, f"Field {name} must not be given in {word}")
    for name in NUMBER_FIELDS[kind]:
        if name not in numbers and name != "mask":
            raise LineError(Rule.TEXT, f"Field {name} must be given in {word}")
    if kind == EventKind.ATOMIC:
        words["strong"] = True
    lanes = tuple(lane for word in lane_words for lane in read_lanes(word, kind, words.get("op")))
    return Event(**{"kind": kind, "lanes": lanes, **numbers, **words})


def _header_value(word: str, rest: str) -> Any:
    """Value of one header line; a location is a pair of PC and place."""
    if word == _LOCATION:
        pc, _, place = rest.partition(" ")
        return str(read_number(pc)), json.loads(place)
    if word == "system":
        return rest
    if word == "seed":
        return read_number(rest)
    if word == "source":
        return json.loads(rest)
    return _assignments(rest.split())


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without comments and blanks."""
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if not line.startswith(_QUOTING):
            line = line.partition("#")[0].rstrip()
        if line:
            yield number, line


def _read_header(lines: list[tuple[int, str]], place: str) -> tuple[TraceHeader, int]:
    """Header, and how many lines it takes."""
    locations: dict[str, str] = {}
    values: dict[str, Any] = {"seed": None, "locations": locations}
    seen: set[str] = set()
    used = 1
    for number, line in lines[1:]:
        word, _, rest = line.partition(" ")
        if word not in (*_HEADER_WORDS, _LOCATION):
            break
        try:
            value = _header_value(word, rest.strip())
            name = f"{word} {value[0]}" if word == _LOCATION else word
            if name in seen:
                raise LineError(Rule.HEADER, f"Header must have {name} once, not again")
        except (LineError, ValueError, RecursionError) as error:
            sentence = (
                error.sentence
                if isinstance(error, LineError)
                else f"Text must be a string in double quotes, not {rest[:80]}"
            )
            raise TraceError(f"{place}, line {number}", Rule.HEADER, sentence) from None
        seen.add(name)
        if word == _LOCATION:
            locations[value[0]] = value[1]
        else:
            values[word] = value
        used += 1
    try:
        return header_from_dict(values), used
    except (TypeError, ValueError) as error:
        raise TraceError(f"{place}, header", Rule.HEADER, str(error)) from None


def _check_first_line(lines: list[tuple[int, str]], place: str) -> None:
    number, line = lines[0] if lines else (1, "")
    name, _, version = line.partition(" ")
    expected_name, _, expected_version = FIRST_LINE.partition(" ")
    if name != expected_name:
        raise TraceError(
            f"{place}, line {number}", Rule.MAGIC,
            f"Trace must begin with the line {FIRST_LINE!r}, not {line[:40]!r}",
        )  # fmt: skip
    if version.strip() != expected_version:
        raise TraceError(
            f"{place}, line {number}", Rule.VERSION,
            f"Version must be {expected_version}, not {version[:40]!r}",
        )  # fmt: skip


def load_text(path: Path) -> Trace:
    """Read and check a text trace.

    Raises
    ------
    OSError
        If the file cannot be read.
    TraceError
        If the file breaks a rule of the format.
    """
    place = str(path)
    raw = path.read_bytes()
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise TraceError(
            place, Rule.MAGIC, "File must be a binary trace or UTF-8 text, not other bytes"
        ) from None
    lines = list(_lines(text))
    _check_first_line(lines, place)
    header, used = _read_header(lines, place)
    events, numbers = [], []
    for number, line in lines[used:]:
        try:
            events.append(_parse_event(line))
        except LineError as error:
            raise TraceError(f"{place}, line {number}", error.rule, error.sentence) from None
        numbers.append(number)
    return Trace.from_events(
        header, events, lambda row: f"{place}, line {numbers[row]}" if row >= 0 else place
    )
