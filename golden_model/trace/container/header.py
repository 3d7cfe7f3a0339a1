"""Header of a trace: plain data for JSON, lines of text, and back with every check (rule 5)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any, NamedTuple, TypeVar, get_type_hints

from racetrap.golden_model.call_stacks import Frame
from racetrap.golden_model.trace.container.rules import Rule, TraceError

_Header = TypeVar("_Header")
#: Fields that only some systems have, and that are left out if they have nothing in them.
_OPTIONAL = (
    "variables", "columns", "frames", "stacks", "independent_threads", "faults", "results",
)  # fmt: skip
#: Digits of the highest PC or frame, and of the highest address.
_PC_DIGITS, _ADDRESS_DIGITS = len(str((1 << 32) - 1)), len(str((1 << 64) - 1))
#: What the keys of fields by number are, and their digits.
_KEYS = {
    "locations": ("PC of a location", _PC_DIGITS),
    "variables": ("Address of a variable", _ADDRESS_DIGITS),
    "columns": ("PC of a column", _PC_DIGITS),
    "frames": ("Number of a frame", _PC_DIGITS),
    "stacks": ("PC of a stack", _PC_DIGITS),
    "faults": ("Number of a fault", _PC_DIGITS),
    "results": ("Number of a result", _PC_DIGITS),
}
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
    for name in _KEYS:
        if name in data:
            data[name] = {str(key): value for key, value in sorted(data[name].items())}
    return {name: value for name, value in data.items() if value or name not in _OPTIONAL}


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
        for name, (of_key, digits) in _KEYS.items():
            if name in values:
                by_number = _by_number(name.capitalize(), of_key, digits, values[name])
                values[name] = {
                    key: _ENTRIES[name](key, value) if name in _ENTRIES else value
                    for key, value in by_number.items()
                }
        return header_type(**values)
    except (TypeError, ValueError) as error:
        raise TraceError(f"{place}, header", Rule.HEADER, str(error)) from None


def header_lines(header: Any) -> Iterator[str]:
    """Lines of text with all that ``header_to_dict`` has."""
    data = asdict(header)
    source, seed, locations = (data.pop(name) for name in ("source", "seed", "locations"))
    variables, columns, frames, stacks, independent, faults, results = (
        data.pop(name, {}) for name in _OPTIONAL
    )
    for name, value in data.items():
        yield f"{name} {_assignments(value) if isinstance(value, dict) else value}"
    yield f"source {json.dumps(source, ensure_ascii=False)}"
    if seed is not None:
        yield f"seed {seed}"
    for pc, place in sorted(locations.items()):
        yield f"location {pc:#x} {json.dumps(place, ensure_ascii=False)}"
    for address, (size, name) in sorted(variables.items()):
        yield f"variable {address:#x} {size} {json.dumps(name, ensure_ascii=False)}"
    for pc, column in sorted(columns.items()):
        yield f"column {pc:#x} {column}"
    for number, frame in sorted(frames.items()):
        yield f"frame {number} {json.dumps(frame, ensure_ascii=False)}"
    for pc, number in sorted(stacks.items()):
        yield f"stack {pc:#x} {number}"
    if independent:
        yield f"independent_threads {independent}"
    for word, sentences in (("fault", faults), ("result", results)):
        for number, sentence in sorted(sentences.items()):
            yield f"{word} {number} {json.dumps(sentence, ensure_ascii=False)}"


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


def _by_number(what: str, of_key: str, digits: int, data: object) -> dict[int, Any]:
    """Values by number from what JSON has; ``TypeError`` or ``ValueError`` if it is wrong."""
    if not isinstance(data, dict):
        raise TypeError(f"{what} must be an object, not {data!r}")
    for key in data:
        if not (key.isascii() and key.isdecimal() and len(key) <= digits) or (key != str(int(key))):
            raise ValueError(f"{of_key} must be a decimal number, not {key!r}")
    return {int(key): value for key, value in data.items()}


def _variable(address: int, data: object) -> Variable:
    if not isinstance(data, list) or len(data) != len(Variable._fields):
        raise TypeError(f"Variable {address:#x} must be its size and its name, not {data!r}")
    return Variable(*data)


def _frame(number: int, data: object) -> Frame:
    if not isinstance(data, list) or len(data) != len(Frame._fields):
        raise TypeError(f"Frame {number} must be its caller, function and place, not {data!r}")
    return Frame(*data)


#: Fields by number whose values are not plain: how they are made.
_ENTRIES: dict[str, Callable[[int, object], Any]] = {"variables": _variable, "frames": _frame}
