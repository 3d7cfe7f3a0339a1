"""Text form of a trace of threads, reading: every line becomes an event, then the rules apply."""

from __future__ import annotations

from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.container.text import LineError, TextFile, assignments
from racetrap.golden_model.trace.threads.events import ThreadEvent, ThreadEventKind
from racetrap.golden_model.trace.threads.header import checked_header
from racetrap.golden_model.trace.threads.records import USED_FIELDS
from racetrap.golden_model.trace.threads.text_writer import VALUE_NAMES, VALUE_WORDS
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

__all__ = ["load_text"]

_KINDS = {kind.name.lower(): kind for kind in ThreadEventKind}
#: Fields that a line may leave out when they are 0.
_OPTIONAL = ("pc", "instructions")


def _due(kind: ThreadEventKind) -> tuple[str, ...]:
    """Numbers that a line of the kind must give."""
    names = [name for name in USED_FIELDS[kind] if name != "value"]
    return ("thread", *names, *([VALUE_NAMES[kind]] if kind in VALUE_NAMES else []))


_DUE = {kind: _due(kind) for kind in ThreadEventKind}
_ALL_NUMBERS = frozenset(_OPTIONAL).union(*_DUE.values())


def _code(kind: ThreadEventKind, words: list[str]) -> int:
    """Value of a kind that is given by a word; 0 for the other kinds."""
    choices = VALUE_WORDS.get(kind, {})
    for word in words:
        if word not in choices:
            if choices:
                raise LineError(
                    Rule.CODE, f"Word must be one of {', '.join(choices)}, not {word!r}"
                )
            raise LineError(Rule.UNUSED_FIELD, f"Word {word} must not be given in {_name(kind)}")
    if len(words) != bool(choices):
        raise LineError(
            Rule.TEXT, f"Word must be given once in {_name(kind)}, not {len(words)} times"
        )
    return choices[words[0]] if words else 0


def _name(kind: ThreadEventKind) -> str:
    return kind.name.lower()


def _parse_event(line: str) -> ThreadEvent:
    """Event of one line without its comment."""
    word, *rest = line.split()
    kind = _KINDS.get(word)
    if kind is None:
        raise LineError(Rule.KIND, f"Kind must be one of {', '.join(_KINDS)}, not {word!r}")
    value = _code(kind, [field for field in rest if "=" not in field])
    numbers = assignments([field for field in rest if "=" in field])
    due = _DUE[kind]
    for name in numbers:
        if name not in _ALL_NUMBERS:
            raise LineError(Rule.TEXT, f"Field must be one that events have, not {name!r}")
        if name not in due and name not in _OPTIONAL:
            raise LineError(Rule.UNUSED_FIELD, f"Field {name} must not be given in {word}")
    for name in due:
        if name not in numbers:
            raise LineError(Rule.TEXT, f"Field {name} must be given in {word}")
    if kind in VALUE_NAMES:
        value = numbers.pop(VALUE_NAMES[kind])
    return ThreadEvent(kind=kind, value=value, **numbers)


def load_text(file: TextFile) -> ThreadTrace:
    """Read and check the events of a text trace of threads.

    Raises
    ------
    TraceError
        If the file breaks a rule of the format.
    """
    place = file.place
    header = checked_header(file.header, place)
    events, numbers = [], []
    for number, line in file.lines:
        try:
            events.append(_parse_event(line))
        except LineError as error:
            raise TraceError(f"{place}, line {number}", error.rule, error.sentence) from None
        numbers.append(number)
    return ThreadTrace.from_events(header, events, lambda row: f"{place}, line {numbers[row]}")
