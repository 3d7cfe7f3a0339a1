"""Addresses of the target's objects, from its linker's map file, instead of the host's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from racetrap.golden_model.trace.noncoherent.operations import RANGE_KINDS
from racetrap.golden_model.trace.noncoherent.schema import OPERATION_SCHEMA
from racetrap.sim.gnu_tools import run_tool

#: A global symbol: address and name.
_SYMBOL = re.compile(r"^\s+0x([0-9a-fA-F]+)\s+([A-Za-z_][\w.]*)$")
#: A section of one object, as with -fdata-sections; the address may stand on the next line.
_SECTION = re.compile(r"^ \.(?:data|bss|noinit|dma\w*)\S*?\.([A-Za-z_]\w*)(?:\s+0x([0-9a-fA-F]+))?")
_CONTINUED = re.compile(r"^\s+0x([0-9a-fA-F]+)\s+0x")
#: Kinds of data symbols in nm's output.
_DATA = "bBdDgGsS"
_OPERATIONS = 1 << 20


def _symbols(lines: Iterator[str]) -> Iterator[tuple[str, int]]:
    section = None
    for line in lines:
        if section is not None:
            match = _CONTINUED.match(line)
            if match:
                yield section, int(match[1], 16)
            section = None
        match = _SECTION.match(line)
        if match:
            if match[2]:
                yield match[1], int(match[2], 16)
            else:
                section = match[1]
        elif match := _SYMBOL.match(line):
            yield match[2], int(match[1], 16)


@dataclass(frozen=True)
class TargetMap:
    """Addresses of objects on the target.

    Parameters
    ----------
    addresses : mapping of str to int
        Address of each symbol.
    """

    addresses: Mapping[str, int]

    @classmethod
    def read(cls, path: Path) -> TargetMap:
        """Symbols of a map file written by GNU ld or LLVM's lld -Map.

        Raises
        ------
        OSError
            If the file cannot be read.
        ValueError
            If there is no symbol in it.
        """
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            addresses = {name: address for name, address in _symbols(file) if address}
        if not addresses:
            raise ValueError(f"{path}: Map has no symbols with addresses")
        return cls(addresses)

    def relocated(self, operations: np.ndarray, program: Path) -> tuple[np.ndarray, str]:
        """Operations at the target's addresses, and their kind of layout.

        Parameters
        ----------
        operations : numpy.ndarray
            Records of the run on the host.
        program : Path
            The program that was run.

        Returns
        -------
        numpy.ndarray
            Records; accesses outside the map's objects keep their addresses.
        str
            ``"target"`` if every object of static data that was accessed is in the map, else
            ``"mixed"``.
        """
        objects = _host_objects(program)
        if not objects:
            return operations, "mixed"
        starts = np.array([start for start, _, _ in objects], np.uint64)
        ends = np.array([start + size for start, size, _ in objects], np.uint64)
        known = np.array([name in self.addresses for _, _, name in objects])
        targets = np.array([self.addresses.get(name, 0) for _, _, name in objects], np.uint64)
        moved, layout = operations.copy(), "target"
        having = OPERATION_SCHEMA.having(RANGE_KINDS)
        for begin in range(0, len(moved), _OPERATIONS):
            block = moved[begin : begin + _OPERATIONS]
            at = np.searchsorted(starts, block["address"], "right") - 1
            inside = (at >= 0) & having[block["kind"]]
            inside &= block["address"] < ends[at]
            if not known[at[inside]].all():
                layout = "mixed"
            inside &= known[at]
            block["address"][inside] += targets[at[inside]] - starts[at[inside]]
        return moved, layout


def _host_objects(program: Path) -> list[tuple[int, int, str]]:
    """Address, size and name of the static data of a program, ascending."""
    listed = run_tool(
        ["nm", "--print-size", "--numeric-sort", str(program)],
        "Symbols of the program cannot be listed",
    )
    objects = []
    for line in listed.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in _DATA:
            # Static variables of functions have a number after their name.
            objects.append((int(words[0], 16), int(words[1], 16), words[3].split(".")[0]))
    return objects
