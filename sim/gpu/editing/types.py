"""Types of a CUDA source by their layout: what lies at an offset, as the source writes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

#: Bytes of the types of numbers.
_SIZES = {
    "char": 1, "bool": 1, "uchar": 1, "short": 2, "ushort": 2, "half": 2, "__half": 2,
    "__nv_bfloat16": 2, "int": 4, "uint": 4, "unsigned": 4, "signed": 4, "float": 4,
    "long": 8, "ulong": 8, "double": 8, "size_t": 8, "ptrdiff_t": 8, "uintptr_t": 8,
}  # fmt: skip
_SIZED = re.compile(r"u?int(8|16|32|64)_t")
_VECTOR = re.compile(r"u?(char|short|int|long|longlong|float|double|__half|half)([1-4])")


class Type(NamedTuple):
    """A type.

    Parameters
    ----------
    size, align : int
        Its bytes, 0 for an array of unknown length, and what its address is a multiple of.
    element : Type or None
        Type of an element of an array.
    members : tuple
        Members of a structure: offset, name and type of each.
    pointee : callable or None
        Gives what a pointer points to, as far as known.
    """

    size: int
    align: int
    element: Type | None = None
    members: tuple[tuple[int, str, Type], ...] = ()
    pointee: Callable[[], Type | None] | None = None

    def part(self, offset: int, access_bytes: int) -> str:
        """What an access of so many bytes at an offset is to, behind the name of the whole."""
        if self.element is not None and self.element.size:
            number, rest = divmod(offset, self.element.size)
            return f"[{number}]{self.element.part(rest, access_bytes)}"
        if access_bytes < self.size:
            for begin, name, member in self.members:
                if begin <= offset < begin + member.size:
                    return f".{name}{member.part(offset - begin, access_bytes)}"
        return f" + {offset}" if offset else ""

    def member(self, number: int) -> tuple[str, Type] | None:
        """An element or a member by its number: what stands behind the name, and its type."""
        if self.element is not None:
            return f"[{number}]", self.element
        if number < len(self.members):
            _, name, member = self.members[number]
            return f".{name}", member
        return None


def array_of(element: Type, length: int) -> Type:
    """An array; length 0 is unknown."""
    return Type(length * element.size, element.align, element)


def pointer_to(pointee: Callable[[], Type | None]) -> Type:
    """A pointer."""
    return Type(8, 8, pointee=pointee)


def structure(members: Iterable[tuple[str, Type]]) -> Type:
    """A structure with members in order, each at a multiple of its alignment."""
    placed, end, align = [], 0, 1
    for name, member in members:
        end = -(-end // member.align) * member.align
        placed.append((end, name, member))
        end += member.size
        align = max(align, member.align)
    return Type(max(-(-end // align) * align, 1), align, members=tuple(placed))


def number_type(text: str) -> Type | None:
    """A type of numbers, or of a few of them, by its name; nothing for other names."""
    words = text.split()
    if len(words) > 1 and _SIZES.keys() >= set(words):
        kinds = [word for word in words if word not in ("unsigned", "signed")]
        if kinds == ["long", "double"]:
            return None
        text = next((each for each in ("char", "short", "long") if each in kinds), "int")
    if found := _SIZED.fullmatch(text):
        return Type(int(found[1]) // 8, int(found[1]) // 8)
    if text in _SIZES:
        return Type(_SIZES[text], _SIZES[text])
    if found := _VECTOR.fullmatch(text):
        element = number_type(found[1].replace("longlong", "long"))
        assert element is not None
        whole = structure((name, element) for name in "xyzw"[: int(found[2])])
        return whole if found[2] == "3" else whole._replace(align=min(whole.size, 16))
    return None
