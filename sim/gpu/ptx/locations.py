"""Source lines of instructions from ``.loc`` directives.

Ref: PTX ISA 9.0, Section 11.5 (debugging directives).
"""

from __future__ import annotations

from collections.abc import Mapping

from racetrap.sim.gpu.ptx.module import Location
from racetrap.sim.gpu.ptx.nodes import LocationNode

__all__ = ["LocationTracker"]

_Place = tuple[int, int, int]


class LocationTracker:
    """Follows the ``.loc`` directives of one function.

    Code that was inlined from another file has the place in the function's own file where it
    was inlined: a person looks for an atomic function's call, not for a compiler's header.

    Parameters
    ----------
    files : mapping of int to str
        Source files by their number.
    """

    def __init__(self, files: Mapping[int, str]):
        self._files = files
        self._file: int | None = None
        self._inlined_at: dict[_Place, _Place] = {}
        self.current: Location | None = None

    def enter(self, node: LocationNode) -> None:
        """Set ``current`` to the place of a directive; line 0 means none."""
        place = node.place
        if node.inlined_at is not None:
            self._inlined_at[place] = node.inlined_at
        elif self._file is None:
            self._file = place[0]
        seen = set()
        while place[0] != self._file and place in self._inlined_at and place not in seen:
            seen.add(place)
            place = self._inlined_at[place]
        file, line, column = place
        self.current = (
            Location(self._files.get(file, f"file{file}"), line, column) if line else None
        )
