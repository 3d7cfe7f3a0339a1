"""Places in a program that call the runtime library, as lines of its source."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from racetrap.sim.gnu_tools import source_lines

#: Program counter in traces of the first place: above those of instructions.
CALL_BASE = 1 << 31


class Sites:
    """Places by number, from 1; 0 is an unknown place."""

    def __init__(self) -> None:
        self._places: list[tuple[str, int]] = []

    def add(self, path: str, offset: int) -> int:
        """Number of a new place.

        Parameters
        ----------
        path : str
            File with the code.
        offset : int
            Return address of the call, from the load address of the file.
        """
        self._places.append((path, offset))
        return len(self._places)

    def pc(self, site: int) -> int:
        """Program counter of a place in traces; 0 if there is no such place."""
        return CALL_BASE + site if 0 < site <= len(self._places) else 0

    def locations(self) -> dict[int, str]:
        """Line of the source of each place that has one, by program counter."""
        by_file: dict[str, dict[int, int]] = defaultdict(dict)
        for number, (path, offset) in enumerate(self._places, start=1):
            by_file[path][self.pc(number)] = offset
        found: dict[int, str] = {}
        for path, offsets in by_file.items():
            if Path(path).is_file():
                found |= source_lines(Path(path), offsets, whole_paths=True)
        return found
