"""Static variables of a program and its libraries, from their tables of symbols."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from racetrap.golden_model.trace.container.header import Variable
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.locations import loaded_modules
from racetrap.sim.gnu_tools import run_tool

__all__ = ["find_variables"]

#: Address, size, and name of a variable; one of a thread of its own (TLS) has no fixed address.
_SYMBOL = re.compile(r" *\d+: ([0-9a-f]+) +(\w+) OBJECT +\w+ +\w+ +\d+ ([^@]+).*")
#: What the compiler adds to the name of a variable inside a function (``count.0``).
_NUMBER = re.compile(r"\.\d+$")
_BLOCK = 1 << 20


def find_variables(
    program: Path, addresses: np.ndarray, modules: Path | None = None
) -> dict[int, Variable]:
    """Static variables that are accessed, by address.

    Parameters
    ----------
    program : Path
        The program.
    addresses : numpy.ndarray
        First bytes of all accesses.
    modules : Path or None
        The runtime's list of shared libraries; None: there is none.

    Raises
    ------
    RecordError
        If a table of symbols cannot be read.
    """
    known = dict(_symbols(program, 0))
    for module in loaded_modules(modules):
        if module.path.is_file():
            known |= _symbols(module.path, module.begin)
    first = np.array(sorted(known), dtype=np.uint64)
    if not len(first):
        return {}
    end = first + np.array([known[address].size for address in first.tolist()], dtype=np.uint64)
    is_accessed = np.zeros(len(first), dtype=bool)
    for start in range(0, len(addresses), _BLOCK):
        block = addresses[start : start + _BLOCK]
        block = block[(block >= first[0]) & (block < end.max())]
        rows = np.searchsorted(first, block, side="right") - 1
        is_accessed[rows[block < end[rows]]] = True
    return {address: known[address] for address in first[is_accessed].tolist()}


def _symbols(file: Path, base: int) -> Iterator[tuple[int, Variable]]:
    """Variables in the table of a file that lies at ``base`` in memory."""
    lines = run_tool(
        ["readelf", "--symbols", "--wide", "--demangle", str(file)],
        "Variables of the program cannot be read",
        error=RecordError,
    ).splitlines()
    for line in lines:
        if found := _SYMBOL.fullmatch(line):
            address, size, name = found.groups()
            if int(size, 0):
                yield base + int(address, 16), Variable(int(size, 0), _NUMBER.sub("", name))
