"""Names of what races are about: variables and allocations, as sources have them, and elements."""

from __future__ import annotations

import re

from racetrap.golden_model.events import Space, TraceHeader
from racetrap.golden_model.memory_objects import object_at
from racetrap.sim.gpu.ptx.kernel_names import variable_name
from racetrap.verdict.cause import MemoryObject
from racetrap.verdict.source_text import declaration, has_scalar_elements, source_line

#: A call that allocates: the function, and what gets the address.
_CALL = re.compile(
    r"\b(cuda\w*(?:Malloc|Alloc)\w*)\s*(?:<[^>]*>)?\(\s*(?:\([^)]*\)\s*)?&?\s*([A-Za-z_][\w.>\[\]-]*)"
)


def named_object(
    space: Space, address: int, launch: int, header: TraceHeader, access_bytes: int
) -> tuple[MemoryObject | None, str]:
    """What an access is to, and the element; nothing if the trace does not know it.

    Parameters
    ----------
    space, address : Space, int
        What is accessed.
    launch : int
        Number of the launch that does.
    header : TraceHeader
        Header of its trace.
    access_bytes : int
        Bytes of the access: elements of an array of unknown type are so large.
    """
    found = object_at(header.objects, int(space), address, launch)
    if found is None:
        return None, ""
    name, origin, place = variable_name(found.name), found.origin, found.place
    if not name and len(calls := _CALL.findall(source_line(place))) == 1:
        ((function, name),) = calls
        origin = f"allocated by the {function}"
    if not place:
        files = frozenset(each.rpartition(":")[0] for each in header.locations.values())
        place = declaration(name, files)
    memory = MemoryObject(name, origin, place, found.size, space.name.lower())
    is_array = found.element > 1 or not found.place or has_scalar_elements(name, found.place)
    size = max(found.element, access_bytes if is_array else 1)
    return memory, _element(address - found.address, size, found.size)


def _element(offset: int, size: int, whole: int) -> str:
    if whole <= size or (size == 1 and not offset):
        return ""
    return f" + {offset}" if offset % size or size == 1 else f"[{offset // size}]"
