"""Source lines of instructions from ``.loc`` directives, and the calls that were inlined there.

Ref: PTX ISA 9.0, Section 11.5 (debugging directives).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from racetrap.golden_model.call_stacks import is_instruction_header
from racetrap.sim.gpu.ptx.module import InlinedCall, Location
from racetrap.sim.gpu.ptx.nodes import LocationNode

_Place = tuple[int, int, int]
#: Section of strings in a PTX text, and its elements: labels, and bytes after ``.b8``.
_SECTION = re.compile(r"\.section\s+\.debug_str\s*\{([^}]*)\}")
_PART = re.compile(r"([$\w]+):|\b(\d+)\b(?!:)")


class DebugStrings:
    """Strings of the section ``.debug_str``, read when the first is asked for.

    Parameters
    ----------
    text : str
        The PTX.
    """

    def __init__(self, text: str):
        self._text = text
        self._labels: dict[str, int] | None = None
        self._bytes = b""

    def at(self, label: str, offset: int) -> str:
        """The string at an offset in bytes from a label; empty if there is none."""
        if self._labels is None:
            self._read()
        start = (self._labels or {}).get(label)
        if start is None:
            return ""
        return self._bytes[start + offset :].partition(b"\0")[0].decode(errors="replace")

    def _read(self) -> None:
        self._labels, values = {}, bytearray()
        for section in _SECTION.findall(self._text):
            for line in section.splitlines():
                words = line.strip().removeprefix(".b8")
                for label, value in _PART.findall(words):
                    if label:
                        self._labels[label] = len(values)
                    else:
                        values.append(int(value) & 0xFF)
        self._bytes = bytes(values)


class Sources(NamedTuple):
    """Meaning of the numbers and labels of ``.loc``.

    Parameters
    ----------
    files : mapping of int to str
        Source files by their number.
    strings : DebugStrings
        Names of functions.
    """

    files: Mapping[int, str]
    strings: DebugStrings

    def place(self, place: _Place) -> str:
        """File and line of a place."""
        return f"{self.file(place)}:{place[1]}"

    def file(self, place: _Place) -> str:
        """File of a place."""
        return self.files.get(place[0], f"file{place[0]}")


class LocationTracker:
    """Follows the ``.loc`` directives of one function.

    Inlined code has its own place, in whatever file, and the calls that lead there.  A function of
    the compiler's own headers, such as ``atomicAdd``, is an instruction: it has the place of its
    call.

    Parameters
    ----------
    sources : Sources
        Names of source files and of inlined functions.
    """

    def __init__(self, sources: Sources):
        self._sources = sources
        #: Place and function of the call by which the code of a place was inlined latest.
        self._inlined: dict[_Place, tuple[_Place, tuple[str, int]]] = {}
        self.current: Location | None = None

    def enter(self, node: LocationNode) -> None:
        """Set ``current`` to the place of a directive; line 0 means none."""
        place = node.place
        if node.inlined_at is not None:
            self._inlined[place] = node.inlined_at, node.function
        else:
            self._inlined.pop(place, None)
        calls = self._calls(place)
        while calls and is_instruction_header(self._sources.file(place)):
            place, _ = calls.pop(0)
        _, line, column = place
        self.current = (
            Location(self._sources.file(place), line, column, tuple(map(self._call, calls)))
            if line
            else None
        )

    def _calls(self, place: _Place) -> list[tuple[_Place, tuple[str, int]]]:
        """Calls by which the code of a place was inlined, the innermost first."""
        calls: list[tuple[_Place, tuple[str, int]]] = []
        while (call := self._inlined.get(place)) is not None and call not in calls:
            calls.append(call)
            place, _ = call
        return calls

    def _call(self, call: tuple[_Place, tuple[str, int]]) -> InlinedCall:
        place, function = call
        return InlinedCall(self._sources.strings.at(*function), self._sources.place(place))
