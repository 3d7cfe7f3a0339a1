"""Text of one event: the kind, numbers as ``name=number``, and bare words."""

from __future__ import annotations

from typing import Any

from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.trace.container.rules import Rule
from racetrap.golden_model.trace.container.schema import EventSchema, Word
from racetrap.golden_model.trace.container.text import LineError, assignments


def event_words(schema: EventSchema, event: Any) -> list[str]:
    """Words of an event's line."""
    texts = (field.text(event) for field in schema.fields[event.kind])
    return [schema.name(event.kind), *(text for text in texts if text is not None)]


def event_values(schema: EventSchema, words: list[str]) -> dict[str, Any]:
    """Values of an event by column, from the words of its line in any order after the kind.

    Raises
    ------
    LineError
        If a word is unknown, missing, given twice or not allowed for the kind.
    """
    kinds = schema.by_name
    name, *rest = words
    if name not in kinds:
        raise LineError(Rule.KIND, unknown_name("event", name, kinds))
    kind = kinds[name]
    numbers = assignments([word for word in rest if "=" in word])
    codes = _codes(schema, kind, [word for word in rest if "=" not in word])
    fields = schema.numbers[kind]
    for name in numbers:
        if name not in fields:
            if not any(name in others for others in schema.numbers.values()):
                raise LineError(Rule.TEXT, f"Unknown field {name!r}")
            raise _unwanted(schema, kind, f"Field {name}")
    for name, field in fields.items():
        if name not in numbers and not field.is_optional:
            raise _missing(schema, kind, f"Field {name}")
    values = {"kind": kind, **codes}
    for name, number in numbers.items():
        column = fields[name].column
        values[column] = values.get(column, 0) | number << fields[name].first_bit
    return values


def _codes(schema: EventSchema, kind: int, words: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for word in words:
        field = schema.words[kind].get(word)
        if field is None:
            raise _wrong_word(schema, kind, word)
        if field.column in values:
            raise LineError(Rule.TEXT, f"Word {word!r} gives {field.name} a second time")
        values[field.column] = field.codes[word]
    for each in schema.fields[kind]:
        if isinstance(each, Word):
            may_be = not each.condition or each.condition in values
            if each.column in values and not may_be:
                raise _unwanted(schema, kind, f"Word for {each.name} without {each.condition}")
            if each.column not in values and may_be and 0 in each.codes.values():
                raise _missing(schema, kind, f"Word for {each.name}")
    return values


def _wrong_word(schema: EventSchema, kind: int, word: str) -> LineError:
    """Error about a word that the kind does not allow."""
    own = schema.words[kind]
    every = {word: field for others in schema.words.values() for word, field in others.items()}
    if word in every and every[word].column not in {field.column for field in own.values()}:
        return _unwanted(schema, kind, f"Word {word}")
    return LineError(Rule.CODE, unknown_name("word", word, own or every))


def _unwanted(schema: EventSchema, kind: int, what: str) -> LineError:
    return LineError(
        Rule.UNUSED_FIELD, f"{what} has no meaning in {schema.name(kind)}: leave it out"
    )


def _missing(schema: EventSchema, kind: int, what: str) -> LineError:
    return LineError(Rule.TEXT, f"{what} is missing in {schema.name(kind)}")
