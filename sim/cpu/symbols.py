"""Symbol tables of a program and its libraries: static variables, and functions."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.trace.container.header import Variable
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.locations import loaded_modules, offsets_by_file
from racetrap.sim.gnu_tools import run_tool

#: Address, size, type and name; a thread-local variable (TLS) has no fixed address.
_SYMBOL = re.compile(r" *\d+: ([0-9a-f]+) +(\w+) (OBJECT|FUNC) +\w+ +\w+ +\d+ ([^@]+).*")
#: Suffix that the compiler adds to a function's static variable (``count.0``) or to a clone of a
#: function.
_ADDED = re.compile(r"(\.\w+)+$| \[clone .*")
_ARGUMENTS = re.compile(r"\(.*")
_BLOCK = 1 << 20


class _Symbol(NamedTuple):
    """A symbol: its address, its bytes, whether it is a function, and its name in the source."""

    address: int
    size: int
    is_function: bool
    name: str


def find_functions(program: Path, names: Iterable[str]) -> list[tuple[int, int]]:
    """First byte, and the one after the last, of each clone of the named functions of a program.

    Parameters
    ----------
    program : Path
        The program.
    names : iterable of str
        Names in the source, in C++ with their namespaces, with or without arguments.

    Raises
    ------
    RecordError
        If the symbol table cannot be read, or lacks a named function.
    """
    if not (names := list(names)):
        return []
    functions = [symbol for symbol in _symbols(program) if symbol.is_function]
    found = []
    for name in names:
        ranges = [
            (symbol.address, symbol.address + symbol.size)
            for symbol in functions
            if name in (symbol.name, _ARGUMENTS.sub("", symbol.name))
        ]
        if not ranges:
            raise RecordError(
                f"Program {program.name} has no function {name}, or it is inlined everywhere: "
                "see `nm -C`, or compile with -fno-inline"
            )
        found += ranges
    return list(dict.fromkeys(found))  # dynamic symbols are listed twice


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
    known = _variables(program, 0)
    for module in loaded_modules(modules):
        if module.path.is_file():
            known |= _variables(module.path, module.begin)
    first = np.array(sorted(known), dtype=np.uint64)
    if not len(first):
        return {}
    end = first + np.array([known[address].size for address in first.tolist()], dtype=np.uint64)
    last = end.max()
    is_accessed = np.zeros(len(first), dtype=bool)
    for start in range(0, len(addresses), _BLOCK):
        block = addresses[start : start + _BLOCK]
        block = block[(block >= first[0]) & (block < last)]
        rows = np.searchsorted(first, block, side="right") - 1
        is_accessed[rows[block < end[rows]]] = True
    return {address: known[address] for address in first[is_accessed].tolist()}


def find_names(program: Path, pcs: Iterable[int], modules: Path | None = None) -> dict[int, str]:
    """Name of the function that has each return address, as far as it is known.

    Parameters
    ----------
    program : Path
        The program.
    pcs : iterable of int
        Return addresses; records have their low 32 bits.
    modules : Path or None
        The runtime's list of shared libraries; None: there is none.

    Raises
    ------
    RecordError
        If a table of symbols cannot be read.
    """
    found: dict[int, str] = {}
    for file, offsets in offsets_by_file(program, pcs, modules):
        functions = sorted(symbol for symbol in _symbols(file) if symbol.is_function)
        starts = [symbol.address for symbol in functions]
        for pc, offset in offsets.items():
            # The call is before its return address, which may belong to the next function.
            row = bisect_left(starts, offset) - 1
            if row >= 0 and offset <= starts[row] + functions[row].size:
                found[pc] = functions[row].name
    return found


def _variables(file: Path, base: int) -> dict[int, Variable]:
    """Variables of a file loaded at ``base``."""
    return {
        base + symbol.address: Variable(symbol.size, symbol.name)
        for symbol in _symbols(file)
        if not symbol.is_function
    }


def _symbols(file: Path) -> list[_Symbol]:
    """Symbols of a file that have a size."""
    return _read_symbols(file, file.stat().st_mtime_ns if file.is_file() else 0)


@lru_cache(maxsize=8)
def _read_symbols(file: Path, changed: int) -> list[_Symbol]:
    """The same, cached while the file is unchanged, for names and variables."""
    symbols = []
    lines = run_tool(
        ["readelf", "--symbols", "--wide", "--demangle", str(file)],
        f"Symbols of {file} cannot be read",
        error=RecordError,
    ).splitlines()
    for line in lines:
        if found := _SYMBOL.fullmatch(line):
            address, length, kind, name = found.groups()
            if int(length, 0):
                name = _ADDED.sub("", name)
                symbols.append(_Symbol(int(address, 16), int(length, 0), kind == "FUNC", name))
    return symbols
