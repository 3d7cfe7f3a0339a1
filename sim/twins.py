"""C++ declarations made from those in Python: what both languages must agree on has one source.

A library's header ``twins.h`` is made when the library is compiled.  The compiler asserts where
each field lies, and a library that is loaded says what it was compiled with.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Any, cast

import numpy as np

from racetrap.sim.failure import Failure

#: Name of the header.
HEADER = "twins.h"

_NUMBERS = {"u": "uint{}_t", "i": "int{}_t"}
_HEAD = """\
// Made from the declarations in Python when the library is compiled.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

"""
#: Where the fields of all structures lie, for whoever loads the library.
_PLACES = """\
struct TwinPlace {{
    const char *name;
    uint64_t offset, bytes;
}};
extern "C" __attribute__((weak)) uint64_t racetrap_twins(const TwinPlace **places) {{
    static const TwinPlace all[] = {{
        {rows}
    }};
    *places = all;
    return sizeof all / sizeof *all;
}}
"""


@dataclass(frozen=True)
class Twin:
    """A declaration.

    Parameters
    ----------
    text : str
        Text in C++.
    places : mapping of str to (int, int)
        Offset and bytes of each field of a structure, by ``<structure>.<field>``, and of the
        structure itself.
    """

    text: str
    places: Mapping[str, tuple[int, int]]


def constants(values: Mapping[str, int], *, ctype: str = "int") -> Twin:
    """Numbers by name, all of one type of C++."""
    return Twin(
        "".join(f"constexpr {ctype} {name} = {value:#x};\n" for name, value in values.items()), {}
    )


def enumeration(
    codes: type[IntEnum] | type[IntFlag],
    *,
    name: str | None = None,
    bits: int = 32,
    prefix: str = "",
    renamed: Mapping[str, str] | None = None,
) -> Twin:
    """Codes with their values.

    Parameters
    ----------
    codes : type of IntEnum or IntFlag
        The codes.
    name : str or None
        What they are called in C++; as in Python by default.
    bits : int
        Bits of a code.
    prefix : str
        Before the name of each.
    renamed : mapping of str to str or None
        Names in C++ of those that another enumeration has a code of the same name with.
    """
    names = {} if renamed is None else renamed
    members = {
        names.get(each, f"{prefix}{each}"): int(code) for each, code in codes.__members__.items()
    }
    return Twin(_enum(name or codes.__name__, members, bits), {})


def positions(name: str, names: Sequence[str], *, bits: int = 32, prefix: str = "") -> Twin:
    """Places of names in a sequence, in upper case, and their number: ``<name>_COUNT``."""
    members = {f"{prefix}{each}".upper(): place for place, each in enumerate(names)}
    count = f"constexpr size_t {name}_COUNT = {len(members)};\n"
    return Twin(_enum(name, members, bits) + count, {})


def numbers(name: str, names: Iterable[str], *, bits: int = 64, is_ordered: bool = False) -> Twin:
    """Structure of unsigned numbers: what an array of them is in Python."""
    dtype = np.dtype([(field, f"<u{bits // 8}") for field in names])
    return record(dtype, name, is_ordered=is_ordered)


def record(
    dtype: np.dtype, name: str, *, types: Mapping[str, str] | None = None, is_ordered: bool = False
) -> Twin:
    """Structure as a record of an array.

    Parameters
    ----------
    dtype : numpy.dtype
        The record.
    name : str
        Name of the structure.
    types : mapping of str to str or None
        Types in C++ of fields that are records.
    is_ordered : bool
        Whether structures can be compared.
    """
    members, places = [], {name: (0, dtype.itemsize)}
    for field in dtype.names or ():
        of_field, offset = dtype.fields[field][:2]  # type: ignore[index]  # it has names
        base, shape = of_field.subdtype or (of_field, ())
        own = (types or {}).get(field) or _NUMBERS[base.kind].format(8 * base.itemsize)
        members.append(f"{own} {field}{''.join(f'[{count}]' for count in shape)}")
        places[f"{name}.{field}"] = offset, of_field.itemsize
    order = f"    auto operator<=>(const {name} &) const = default;\n" if is_ordered else ""
    return _structure(name, members, places, order)


def structure(
    ctype: type[ctypes.Structure],
    *,
    name: str | None = None,
    types: Mapping[str, str] | None = None,
) -> Twin:
    """Structure as one of ``ctypes``.

    Parameters
    ----------
    ctype : type of ctypes.Structure
        The structure.
    name : str or None
        What it is called in C++; by default as in Python, without underscores before it.
    types : mapping of str to str or None
        Types in C++ of fields that are addresses.
    """
    name = name or _name_of(ctype)
    members, places = [], {name: (0, ctypes.sizeof(ctype))}
    for field, of_field, *_ in ctype._fields_:
        counts, base = "", cast("Any", of_field)
        while issubclass(base, ctypes.Array):
            counts, base = f"{counts}[{base._length_}]", base._type_
        own = (types or {}).get(field) or _ctype_name(base)
        members.append(f"{own} {field}{counts}")
        place = getattr(ctype, field)
        places[f"{name}.{field}"] = place.offset, place.size
    return _structure(name, members, places, "")


def header_of(twins: Iterable[Twin]) -> str:
    """Text of the header."""
    texts: list[str] = []
    places: dict[str, tuple[int, int]] = {}
    for twin in twins:
        texts.append(twin.text)
        places.update(twin.places)
    rows = ",\n        ".join(
        f'{{"{name}", {_offset_of(name)}, sizeof({name.replace(".", "::")})}}' for name in places
    )
    if rows:
        texts.append(_PLACES.format(rows=rows))
    return _HEAD + "\n".join(texts)


class _Place(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p), ("offset", ctypes.c_uint64), ("bytes", ctypes.c_uint64),
    )  # fmt: skip


def check_twins(library: ctypes.CDLL, kind: str, twins: Iterable[Twin]) -> None:
    """Compare what a library was compiled with.

    Parameters
    ----------
    library : CDLL
        The library.
    kind : str
        What errors call it.
    twins : iterable of Twin
        Declarations as they are now.

    Raises
    ------
    Failure
        If a field lies elsewhere, has another size, or is not in both.
    """
    own = {name: place for twin in twins for name, place in twin.places.items()}
    if not own:
        return
    places = ctypes.POINTER(_Place)()
    library.racetrap_twins.restype = ctypes.c_uint64
    count = library.racetrap_twins(ctypes.byref(places))
    compiled = {place.name.decode(): (place.offset, place.bytes) for place in places[:count]}
    for name in {**own, **compiled}:
        if own.get(name) != compiled.get(name):
            raise Failure(
                f"Library {kind} must have {_describe(name, own)}, not "
                f"{_describe(name, compiled)}: clear the cache with `racetrap cache clear`"
            )


def _describe(name: str, places: Mapping[str, tuple[int, int]]) -> str:
    if name not in places:
        return f"no {name}"
    offset, size = places[name]
    return f"{name} of {size} bytes at byte {offset}"


def _enum(name: str, members: Mapping[str, int], bits: int) -> str:
    rows = "".join(f"    {member} = {value},\n" for member, value in members.items())
    return f"enum {name} : uint{bits}_t {{\n{rows}}};\n"


def _structure(
    name: str, members: Iterable[str], places: Mapping[str, tuple[int, int]], more: str
) -> Twin:
    rows = "".join(f"    {member}{{}};\n" for member in members)
    asserts = "".join(
        f"static_assert({_offset_of(place)} == {offset} && sizeof({place.replace('.', '::')}) == "
        f'{size}, "{place} must have {size} bytes at byte {offset}, as in Python");\n'
        for place, (offset, size) in places.items()
    )
    return Twin(f"struct {name} {{\n{rows}{more}}};\n{asserts}", places)


def _offset_of(place: str) -> str:
    return f"offsetof({place.replace('.', ', ')})" if "." in place else "0"


def _name_of(ctype: type[Any]) -> str:
    return ctype.__name__.lstrip("_")


def _ctype_name(ctype: Any) -> str:
    if issubclass(ctype, ctypes.Structure):
        return _name_of(ctype)
    return _NUMBERS[np.dtype(ctype).kind].format(8 * ctypes.sizeof(ctype))
