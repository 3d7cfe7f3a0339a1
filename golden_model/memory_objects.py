"""Memory objects of a trace: variables and allocations that accesses belong to.

Ref: ``docs/trace-format.md``, section on headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from racetrap.golden_model.checks import check_integer, check_printable

_MOST_ADDRESS = (1 << 64) - 1
_MOST_NUMBER = (1 << 32) - 1


class MemoryObject(NamedTuple):
    """A variable or an allocation.

    Parameters
    ----------
    space : int
        Its memory: 0 global, 1 shared.
    address, size : int
        First byte, and bytes; in shared memory from the block's first byte.
    element : int
        Bytes of an element; 1 if unknown.
    launch : int
        Number of the launch from which on it is there.
    name : str
        Its name, as the PTX or the launch file has it; empty for an allocation.
    origin : str
        What made it, in words.
    place : str
        Place of the call that allocated it; empty for others, or if unknown.
    """

    space: int
    address: int
    size: int
    element: int
    launch: int
    name: str
    origin: str
    place: str


def check_objects(objects: Mapping[int, MemoryObject]) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless every field is in its range."""
    for number, each in objects.items():
        check_integer("Number of an object", number, 0, _MOST_NUMBER)
        check_integer(f"Space of object {number}", each.space, 0, 1)
        check_integer(f"Address of object {number}", each.address, 0, _MOST_ADDRESS)
        check_integer(f"Size of object {number}", each.size, 1, _MOST_ADDRESS)
        check_integer(f"Element of object {number}", each.element, 1, each.size)
        check_integer(f"Launch of object {number}", each.launch, 0, _MOST_NUMBER)
        for name, text in (("Name", each.name), ("Origin", each.origin), ("Place", each.place)):
            check_printable(f"{name} of object {number}", text)


def object_at(
    objects: Mapping[int, MemoryObject], space: int, address: int, launch: int
) -> MemoryObject | None:
    """The object that holds an address in a launch: of several the latest."""
    found = [
        (each.launch, number) for number, each in objects.items()
        if each.space == space and each.launch <= launch
        and 0 <= address - each.address < each.size
    ]  # fmt: skip
    return objects[max(found)[1]] if found else None
