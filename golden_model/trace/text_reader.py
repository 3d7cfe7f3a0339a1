"""Text form of a trace, reading: every line becomes an event, then the common rules apply."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from racetrap.golden_model.events import WARP_SIZE, Event, EventKind, Lane, TraceHeader
from racetrap.golden_model.scord.packets import AtomicOp, Scope
from racetrap.golden_model.trace.header import header_from_dict
from racetrap.golden_model.trace.records import Rule, TraceError
from racetrap.golden_model.trace.text_writer import FIRST_LINE, NUMBER_FIELDS
from racetrap.golden_model.trace.trace import Trace

__all__ = ["load_text"]

_NUMBER = r"(?:0x[0-9a-fA-F]{1,40}|[0-9]{1,40})"
_NUMBER_RE = re.compile(_NUMBER)
_LANES_RE = re.compile(
    rf"(?P<first>[0-9]{{1,9}})(?:\.\.(?P<last>[0-9]{{1,9}}))?:(?P<address>{_NUMBER})"
    rf"(?P<stride>[+-]{_NUMBER})?"
    rf"(?:=(?:(?P<compare>{_NUMBER})->)?(?P<value>{_NUMBER})(?::(?P<outcome>ok|failed))?)?"
)
_KINDS = {kind.name.lower(): kind for kind in EventKind}
_SCOPED = {EventKind.ATOMIC, EventKind.FENCE}
#: Bare words of an event line: field, value, and the kinds that use it.
_WORDS: dict[str, tuple[str, Any, set[EventKind]]] = {
    **{scope.name.lower(): ("scope", scope, _SCOPED) for scope in Scope},
    **{op.name.lower(): ("op", op, {EventKind.ATOMIC}) for op in AtomicOp},
    "strong": ("strong", True, {EventKind.LOAD, EventKind.STORE}),
}
_ALL_NUMBERS = frozenset(name for names in NUMBER_FIELDS.values() for name in names)
#: Values that a lane of an atomic has, and how they are written.
_VALUES: dict[AtomicOp | None, tuple[set[str], str]] = {
    AtomicOp.EXCH: ({"value"}, "=value"),
    AtomicOp.CAS: ({"value", "compare", "outcome"}, "=expected->new and :ok or :failed"),
}
_HEADER_WORDS = ("system", "geometry", "region", "source", "seed")
_ACCESS_KINDS = (EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC)


class _LineError(Exception):
    """What is wrong with the line being read."""

    def __init__(self, rule: Rule, sentence: str):
        self.rule = rule
        self.sentence = sentence


def _number(text: str) -> int:
    if not _NUMBER_RE.fullmatch(text):
        raise _LineError(Rule.TEXT, f"Number must be decimal or 0x and hexadecimal, not {text!r}")
    return int(text, 16 if text.startswith("0x") else 10)


def _assignments(words: list[str]) -> dict[str, int]:
    values: dict[str, int] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise _LineError(Rule.TEXT, f"Field must be name=number, not {word!r}")
        if name in values:
            raise _LineError(Rule.TEXT, f"Field {name} must be given once, not again")
        values[name] = _number(value)
    return values


def _lane_group(word: str, kind: EventKind, op: AtomicOp | None) -> Iterator[Lane]:
    """Lanes of one word: ``L:ADDRESS`` or ``L..M:ADDRESS+STRIDE``, with values of an atomic."""
    match = _LANES_RE.fullmatch(word)
    if match is None or (match["last"] is None) != (match["stride"] is None):
        raise _LineError(
            Rule.TEXT,
            f"Lanes must be like 3:0x100 or 0..31:0x100+4, with =value or "
            f"=expected->new:ok or :failed in an atomic, not {word!r}",
        )
    given = {name for name in ("value", "compare", "outcome") if match[name] is not None}
    due, form = _VALUES.get(op, (set(), "no value"))
    if given != due:
        what = kind.name.lower() if op is None else f"{kind.name.lower()} {op.name.lower()}"
        raise _LineError(
            Rule.ATOMIC_VALUES, f"Lane of {what} must be given with {form}, not {word!r}"
        )
    first, last = int(match["first"]), int(match["last"] or match["first"])
    if not first <= last < WARP_SIZE:
        raise _LineError(Rule.LANES, f"Lanes must be ascending and below {WARP_SIZE}, not {word!r}")
    stride = 0
    if match["stride"] is not None:
        stride = _number(match["stride"][1:]) * (-1 if match["stride"][0] == "-" else 1)
    address, value, compare = (
        _number(match[name] or "0") for name in ("address", "value", "compare")
    )
    for index in range(last - first + 1):
        yield Lane(
            first + index, address + index * stride, value, compare, match["outcome"] == "ok"
        )


def _words(kind: EventKind, words: list[str]) -> dict[str, Any]:
    """The bare words of an event line: scope, op and ``strong``."""
    values: dict[str, Any] = {}
    for word in words:
        if word not in _WORDS:
            raise _LineError(Rule.CODE, f"Word must be one of {', '.join(_WORDS)}, not {word!r}")
        name, value, users = _WORDS[word]
        if kind not in users:
            raise _LineError(
                Rule.UNUSED_FIELD, f"Word {word} must not be given in {kind.name.lower()}"
            )
        if name in values:
            raise _LineError(Rule.TEXT, f"Word for {name} must be given once, not again: {word!r}")
        values[name] = value
    due = {EventKind.ATOMIC: ("scope", "op"), EventKind.FENCE: ("scope",)}.get(kind, ())
    for name in due:
        if name not in values:
            raise _LineError(Rule.TEXT, f"Word for {name} must be given in {kind.name.lower()}")
    return values


def _parse_event(line: str) -> Event:
    """Event of one line without its comment."""
    word, *rest = line.split()
    kind = _KINDS.get(word)
    if kind is None:
        raise _LineError(Rule.KIND, f"Kind must be one of {', '.join(_KINDS)}, not {word!r}")
    lane_words: list[str] = []
    if "lanes" in rest:
        at = rest.index("lanes")
        rest, lane_words = rest[:at], rest[at + 1 :]
        if kind not in _ACCESS_KINDS:
            raise _LineError(Rule.UNUSED_FIELD, f"Lanes must not be given in {word}")
    numbers = _assignments([field for field in rest if "=" in field])
    words = _words(kind, [field for field in rest if "=" not in field])
    for name in numbers:
        if name not in _ALL_NUMBERS:
            raise _LineError(Rule.TEXT, f"Field must be one that events have, not {name!r}")
        if name not in NUMBER_FIELDS[kind]:
            raise _LineError(Rule.UNUSED_FIELD, f"Field {name} must not be given in {word}")
    for name in NUMBER_FIELDS[kind]:
        if name not in numbers:
            raise _LineError(Rule.TEXT, f"Field {name} must be given in {word}")
    if kind == EventKind.ATOMIC:
        words["strong"] = True
    lanes = tuple(lane for word in lane_words for lane in _lane_group(word, kind, words.get("op")))
    return Event(**{"kind": kind, "lanes": lanes, **numbers, **words})


def _header_value(word: str, rest: str) -> Any:
    if word == "system":
        return rest
    if word == "seed":
        return _number(rest)
    if word == "source":
        return json.loads(rest)
    return _assignments(rest.split())


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without comments and blanks; a # in the quoted source is no comment."""
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if not line.startswith("source "):
            line = line.partition("#")[0].rstrip()
        if line:
            yield number, line


def _read_header(lines: list[tuple[int, str]], place: str) -> tuple[TraceHeader, int]:
    """Header, and how many lines it takes."""
    values: dict[str, Any] = {"seed": None}
    seen: set[str] = set()
    used = 1
    for number, line in lines[1:]:
        word, _, rest = line.partition(" ")
        if word not in _HEADER_WORDS:
            break
        if word in seen:
            raise TraceError(
                f"{place}, line {number}", Rule.HEADER, f"Header must have {word} once, not again"
            )
        seen.add(word)
        try:
            values[word] = _header_value(word, rest.strip())
        except (_LineError, ValueError) as error:
            sentence = (
                error.sentence
                if isinstance(error, _LineError)
                else (f"Source must be a string in double quotes, not {rest}")
            )
            raise TraceError(f"{place}, line {number}", Rule.HEADER, sentence) from None
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
        except _LineError as error:
            raise TraceError(f"{place}, line {number}", error.rule, error.sentence) from None
        numbers.append(number)
    return Trace.from_events(
        header, events, lambda row: f"{place}, line {numbers[row]}" if row >= 0 else place
    )
