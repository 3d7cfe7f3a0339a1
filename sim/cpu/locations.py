"""Source lines of program counters, from the debug information of a program and its libraries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.gnu_tools import source_lines

_LOW = 0xFFFF_FFFF


class Module(NamedTuple):
    """A shared library in memory.

    Parameters
    ----------
    begin, end : int
        Its first byte, and the one after its last.
    path : Path
        Its file.
    """

    begin: int
    end: int
    path: Path


def loaded_modules(modules: Path | None) -> Iterator[Module]:
    """Shared libraries of the runtime's list; none if there is none."""
    for line in modules.read_text().splitlines() if modules else ():
        begin, end, path = line.split(" ", 2)
        yield Module(int(begin, 16), int(end, 16), Path(path))


def find_locations(
    program: Path, pcs: Iterable[int], modules: Path | None = None
) -> dict[int, str]:
    """Source line (``"file.c:12"``) of each return address that has one.

    Parameters
    ----------
    program : Path
        The program.
    pcs : iterable of int
        Return addresses; events have their low 32 bits.
    modules : Path or None
        The runtime's list of shared libraries; None: there is none.
    """
    found: dict[int, str] = {}
    for file, offsets in offsets_by_file(program, pcs, modules):
        found |= source_lines(file, offsets, error=RecordError)
    return found


def offsets_by_file(
    program: Path, pcs: Iterable[int], modules: Path | None
) -> Iterator[tuple[Path, dict[int, int]]]:
    """Files that contain some of the return addresses, with the offset of each, ascending."""
    left = {pc for pc in pcs if pc}
    for module in loaded_modules(modules):
        low, size = module.begin & _LOW, module.end - module.begin
        there = sorted(pc for pc in left if pc - low & _LOW < size)
        left.difference_update(there)
        if there and module.path.is_file():
            yield module.path, {pc: pc - low & _LOW for pc in there}
    if left:
        yield program, {pc: pc for pc in sorted(left)}
