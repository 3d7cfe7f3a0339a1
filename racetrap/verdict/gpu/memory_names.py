"""Names of what races are about: variables and allocations, as sources have them, and elements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from racetrap.golden_model.call_stacks import is_library
from racetrap.golden_model.events import SHARED_BITS, Space, TraceHeader
from racetrap.golden_model.memory_objects import MemoryObject as TracedObject
from racetrap.golden_model.memory_objects import object_at
from racetrap.sim.gpu.editing.allocations import Allocation, allocations_at
from racetrap.sim.gpu.editing.declarations import Function, declared_name, source_of, text_at
from racetrap.sim.gpu.editing.type_names import Types
from racetrap.sim.gpu.editing.types import Type, array_of
from racetrap.sim.gpu.ptx.kernel_names import (
    member_numbers,
    template_arguments,
    variable_name,
    written_name,
)
from racetrap.verdict.cause import MemoryObject
from racetrap.verdict.source_text import source_text, with_included

#: Name that the compiler gives to a parameter: the kernel's, and its number.
_PARAMETER = re.compile(r"(\w+)_param_(\d+)")
_QUALIFIER = re.compile(r"__(?:device|shared|constant|managed)__")


class _Named(NamedTuple):
    """A variable or an allocation: its name, and type of its contents."""

    memory: MemoryObject
    kind: Type | None


class MemoryNames:
    """Names of memory in a trace.

    Parameters
    ----------
    header : TraceHeader
        Header of the trace, with places of sources that can be read.
    """

    def __init__(self, header: TraceHeader) -> None:
        self._header = header
        self._named: dict[TracedObject, _Named] = {}

    def named(
        self, space: Space, address: int, launch: int, access_bytes: int
    ) -> tuple[MemoryObject | None, str]:
        """What an access is to, and the element; nothing if the trace does not know it.

        Parameters
        ----------
        space, address : Space, int
            What is accessed.
        launch : int
            Number of the launch that does.
        access_bytes : int
            Bytes of the access: elements of an array of unknown type are so large.
        """
        if space == Space.SHARED:
            address &= (1 << SHARED_BITS) - 1
        found = object_at(self._header.objects, int(space), address, launch)
        if found is None:
            return None, ""
        if found not in self._named:
            is_variable = found.space == Space.SHARED or found.origin.startswith("a `__")
            named = self._variable(found) if is_variable else self._allocation(found)
            self._named[found] = named
        memory, kind = self._named[found]
        offset = address - found.address
        if kind is not None:
            part = kind.part(offset, access_bytes)
            is_pointer = memory.origin.startswith("allocated") and part.startswith(".")
            return memory, f"->{part[1:]}" if is_pointer else part
        is_array = found.element > 1 or not found.place
        return memory, _element(offset, max(found.element, access_bytes * is_array), found.size)

    @cached_property
    def _files(self) -> list[str]:
        """Files with instructions, those of libraries left out."""
        files = {place.rpartition(":")[0] for place in self._header.locations.values()}
        return sorted(file for file in files if file and not is_library(file))

    def _variable(self, found: TracedObject) -> _Named:
        function, name = variable_name(found.name)
        own = name.rpartition("::")[2]
        places = list(self._declarations(function, own)) or list(self._declarations("", own))
        place, kind, origin = places[0] if len(places) == 1 else ("", None, found.origin)
        part = ""
        for number in member_numbers(found.name):
            member = kind.member(number) if kind else None
            text, kind = member or ("", None)
            part = (part + text) * (member is not None)
        if kind is not None and kind.element is not None and not kind.size:
            kind = kind._replace(size=found.size)
        if kind is not None and kind.size != found.size:
            kind = None
        memory = MemoryObject(name + part, origin, place, found.size, _space(found))
        return _Named(memory, kind)

    def _declarations(self, function: str, name: str) -> Iterator[tuple[str, Type | None, str]]:
        """Places, types and origins of variables of a name, in a function or anywhere."""
        for file in self._files:
            text = source_text(file)
            if name not in text:
                continue
            source = source_of(text)
            parts: list[Function | None] = [None]
            if function:
                parts = [*source.index.functions.get(_base(function), ())]
            for part in parts:
                types = self._types(file, function, part)
                for declaration, declarator in source.declarations(name, part and part.node):
                    if qualifier := _QUALIFIER.search(text_at(declaration)):
                        place = f"{file}:{declarator.start_point[0] + 1}"
                        origin = f"a `{qualifier[0]}` variable"
                        yield place, types.of(declaration, declarator), origin

    def _allocation(self, found: TracedObject) -> _Named:
        name, origin, place, kind = found.name, found.origin, found.place, None
        if parameter := _PARAMETER.fullmatch(name):
            name, kind = self._parameter(written_name(parameter[1]), int(parameter[2]))
        call = self._call(found)
        if call is not None:
            if origin.startswith("allocated"):
                origin = f"allocated by the {call.function}"
            if not name or not call.is_passed_on:
                name, kind = call.name, call.kind or kind
        if kind is not None and found.size != kind.size:
            kind = array_of(kind, found.size // kind.size) if _divides(kind, found.size) else None
        return _Named(MemoryObject(name, origin, place, found.size, _space(found)), kind)

    def _call(self, found: TracedObject) -> Allocation | None:
        """The call that allocated it: of several in a line that of its number among the objects."""
        file, _, line = found.place.rpartition(":")
        text = "" if is_library(file) or not line.isdecimal() else source_text(file)
        if not text:
            return None
        calls = allocations_at(source_of(text), int(line), self._types(file))
        beside = [each for each in self._header.objects.values() if each.place == found.place]
        if not calls or len(beside) % len(calls):
            return None
        return calls[beside.index(found) % len(calls)]

    def _parameter(self, kernel: str, number: int) -> tuple[str, Type | None]:
        """Name of a kernel's parameter, and type of what it points to."""
        base = _base(kernel)
        for file in (each for each in self._files if base in source_text(each)):
            sources = [source_of(source_text(each)) for each in with_included(file)]
            functions = sources[0].index.functions.get(base) or [
                function for source in sources for function in source.index.macro_kernels
            ]  # fmt: skip
            for function in functions:
                declaration = next(iter(function.parameters[number : number + 1]), None)
                declarator = declaration and declaration.child_by_field_name("declarator")
                if declaration is not None and declarator is not None:
                    kind = self._types(file, kernel, function).of(declaration, declarator)
                    pointee = kind.pointee() if kind and kind.pointee else None
                    return declared_name(declarator), pointee
        return f"argument {number}", None

    def _types(self, file: str, function: str = "", node: Function | None = None) -> Types:
        """Types in a file, and in a function with arguments for its template's parameters."""
        sources = [source_of(source_text(each)) for each in with_included(file)]
        template = node.template if node else []
        return Types(sources, dict(zip(template, template_arguments(function), strict=False)))


def _base(function: str) -> str:
    """Name of a function without its template's arguments and namespaces."""
    return function.partition("<")[0].rpartition("::")[2]


def _divides(kind: Type, size: int) -> bool:
    return kind.size > 0 and size % kind.size == 0


def _space(found: TracedObject) -> str:
    return Space(found.space).name.lower()


def _element(offset: int, size: int, whole: int) -> str:
    if whole <= size or (size <= 1 and not offset):
        return ""
    return f" + {offset}" if offset % size or size == 1 else f"[{offset // size}]"
