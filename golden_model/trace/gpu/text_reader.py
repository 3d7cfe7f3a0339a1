"""Text form of a GPU trace, reading: every line becomes an event, then the common rules apply."""

from __future__ import annotations

from typing import Any

from racetrap.golden_model.events import ACCESS_KINDS, AtomicOp, Event, EventKind, Scope, Space
from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.container.text import LineError, TextFile, assignments
from racetrap.golden_model.trace.gpu.header import header_from_dict
from racetrap.golden_model.trace.gpu.text_lanes import read_lanes
from racetrap.golden_model.trace.gpu.text_writer import NUMBER_FIELDS
from racetrap.golden_model.trace.gpu.trace import Trace

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
    numbers = assignments([field for field in rest if "=" in field])
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


def load_text(file: TextFile) -> Trace:
    """Read and check the events of a text trace of a GPU.

    Raises
    ------
    TraceError
        If the file breaks a rule of the format.
    """
    place = file.place
    try:
        header = header_from_dict(file.header)
    except (TypeError, ValueError) as error:
        raise TraceError(f"{place}, header", Rule.HEADER, str(error)) from None
    events, numbers = [], []
    for number, line in file.lines:
        try:
            events.append(_parse_event(line))
        except LineError as error:
            raise TraceError(f"{place}, line {number}", error.rule, error.sentence) from None
        numbers.append(number)
    return Trace.from_events(
        header, events, lambda row: f"{place}, line {numbers[row]}" if row >= 0 else place
    )
