"""Header of a trace: plain data for JSON, lines of text, and back with every check (rule 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any, NamedTuple, TypeVar, get_type_hints

from racetrap.golden_model.call_stacks import Frame
from racetrap.golden_model.memory_objects import MemoryObject
from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.container.text import NUMBERED, NumberedField, quoted

_Header = TypeVar("_Header")
#: Fields of some systems, or that came later, omitted if empty.
_OPTIONAL = {
    *(field.name for field in NUMBERED.values()), "independent_threads", "write_through",
} - {"locations"}  # fmt: skip
#: Fields with their own line.
_SINGLE = ("source", "seed", "independent_threads")
#: Numbers that are written in hexadecimal.
_HEXADECIMAL = ("data_base",)


class Variable(NamedTuple):
    """A static variable of the program.

    Parameters
    ----------
    size : int
        Its bytes.
    name : str
        Its name in the source.
    """

    size: int
    name: str


def header_to_dict(header: Any) -> dict[str, Any]:
    """Plain data of a header, in the order in which files hold it.

    The keys of fields by number are strings of decimal digits, ascending.
    """
    data = asdict(header)
    for field in NUMBERED.values():
        if (name := field.name) in data:
            data[name] = {str(key): value for key, value in sorted(data[name].items())}
    return _without_empty(data)


def header_from_dict(header_type: type[_Header], data: object, place: str) -> _Header:
    """Header from plain data of the file ``place``.

    Raises
    ------
    TraceError
        If a field is missing, unknown, of the wrong type or out of range.
    """
    try:
        values = _exact_fields("Header", data, header_type)
        parts: dict[str, Any] = get_type_hints(header_type)
        for name, part in parts.items():
            if isinstance(part, type) and is_dataclass(part):
                values[name] = part(**_exact_fields(name.capitalize(), values[name], part))
        for field in NUMBERED.values():
            if (name := field.name) in values:
                by_number = _by_number(field, values[name])
                values[name] = {
                    key: _ENTRIES[name](key, value) if name in _ENTRIES else value
                    for key, value in by_number.items()
                }
        return header_type(**values)
    except (TypeError, ValueError) as error:
        raise TraceError(f"{place}, header", Rule.HEADER, str(error)) from None


def header_lines(header: Any) -> Iterator[str]:
    """Lines of text with the contents of ``header_to_dict``."""
    data = _without_empty(asdict(header))
    source, seed, independent = (data.pop(name, None) for name in _SINGLE)
    numbered = {word: data.pop(field.name, {}) for word, field in NUMBERED.items()}
    for name, value in data.items():
        yield f"{name} {_assignments(value) if isinstance(value, dict) else value}"
    yield f"source {quoted(source)}"
    if seed is not None:
        yield f"seed {seed}"
    if independent:
        yield f"independent_threads {independent}"
    for word, values in numbered.items():
        field = NUMBERED[word]
        for number, value in sorted(values.items()):
            yield f"{word} {number:{field.form}} {field.write(value)}"


def _without_empty(data: dict[Any, Any]) -> dict[Any, Any]:
    """Plain data, also of its parts, without optional fields that are empty."""
    return {
        name: _without_empty(value) if isinstance(value, dict) else value
        for name, value in data.items()
        if value or name not in _OPTIONAL
    }


def _assignments(values: Mapping[str, int]) -> str:
    return " ".join(
        f"{name}={value:#x}" if name in _HEXADECIMAL else f"{name}={value:d}"
        for name, value in values.items()
    )


def _exact_fields(what: str, data: object, form: Any) -> dict[str, Any]:
    """Copy of ``data``; ``TypeError`` or ``ValueError`` unless it has the fields of ``form``."""
    names = [field.name for field in fields(form)]
    if not isinstance(data, dict):
        raise TypeError(f"{what} must be an object, not {data!r}")
    if not set(names).difference(_OPTIONAL) <= data.keys() <= set(names):
        raise ValueError(f"{what} must have the fields {', '.join(names)}, not {', '.join(data)}")
    return dict(data)


def _by_number(field: NumberedField, data: object) -> dict[int, Any]:
    """Values by number from JSON data; ``TypeError`` or ``ValueError`` if invalid."""
    if not isinstance(data, dict):
        raise TypeError(f"{field.name.capitalize()} must be an object, not {data!r}")
    for key in data:
        is_number = key.isascii() and key.isdecimal() and len(key) <= len(str(field.most))
        if not is_number or key != str(int(key)):
            raise ValueError(f"{field.what} must be a decimal number, not {key!r}")
    return {int(key): value for key, value in data.items()}


def _variable(address: int, data: object) -> Variable:
    if not isinstance(data, list) or len(data) != len(Variable._fields):
        raise TypeError(f"Variable {address:#x} must be its size and its name, not {data!r}")
    return Variable(*data)


def _frame(number: int, data: object) -> Frame:
    if not isinstance(data, list) or len(data) != len(Frame._fields):
        raise TypeError(f"Frame {number} must be its caller, function and place, not {data!r}")
    return Frame(*data)


def _object(number: int, data: object) -> MemoryObject:
    fields = MemoryObject._fields
    if not isinstance(data, list) or len(data) != len(fields):
        raise TypeError(f"Object {number} must be its {', '.join(fields)}, not {data!r}")
    return MemoryObject(*data)


#: Constructors of numbered fields whose values are objects.
_ENTRIES: dict[str, Callable[[int, object], Any]] = {
    "variables": _variable,
    "frames": _frame,
    "objects": _object,
}
