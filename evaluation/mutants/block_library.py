"""A block of a build with mutants as a shared library, without the system around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ctypes import POINTER, c_int, c_uint32, c_void_p, memmove
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from racetrap.sim.compiled_library import Functions, load_library
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.verilator.build_cache import (
    MAKE_FAST,
    ONE_PIECE,
    build_key,
    build_once,
    make_model,
    run_tool,
)
from racetrap.sim.cosim.verilator.first_instance import module_bodies
from racetrap.sim.cosim.verilator.mutants import MUTATED, SELECTOR

#: Clock and reset among the ports.
CLOCK, RESET = "clk", "rst"
_LIBRARY = "libblock.so"
_PORT = re.compile(r"^  (input|output) (?:\[(\d+):0\] )?(\S+);$", re.MULTILINE)
#: Registers begin as the Verilog says; all others, which it says nothing about, at random.
_VERILATE = (
    "--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "0", "-Wno-fatal", "--no-timing",
    "-CFLAGS", "-fPIC", "-LDFLAGS", "-shared",
)  # fmt: skip
#: Bits of a word in which the library takes and gives ports; each begins a new one.
WORD_BITS = 32
_WORDS = POINTER(c_uint32)
_FUNCTIONS: Functions = {
    "block_new": (c_void_p, [c_uint32]),
    "block_delete": (None, [c_void_p]),
    "block_evaluate": (None, [c_void_p, _WORDS, _WORDS, c_int]),
}


class Port(NamedTuple):
    """A port of a block."""

    name: str
    width: int
    is_input: bool

    @property
    def words(self) -> int:
        """Words that it is taken or given in."""
        return -(-self.width // WORD_BITS)


@dataclass(frozen=True)
class BlockLibrary:
    """A block as a shared library.

    Parameters
    ----------
    folder : Path
        Folder of the build.
    ports : tuple of Port
        Its ports, but clock, reset and the selector of mutants.
    has_clock : bool
        Whether it has a clock.
    """

    folder: Path
    ports: tuple[Port, ...]
    has_clock: bool

    def instance(self, mutant: int) -> BlockInstance:
        """A block from its initial state on, with a mutant selected."""
        return BlockInstance(self, mutant)


class BlockInstance:
    """A block from its initial state on.

    Parameters
    ----------
    library : BlockLibrary
        The block.
    mutant : int
        Value of the selector; 0: none.
    """

    def __init__(self, library: BlockLibrary, mutant: int) -> None:
        self._library = load_library(library.folder / _LIBRARY, "Block", _FUNCTIONS)
        words = [port.words * port.is_input for port in library.ports]
        self._in = (c_uint32 * sum(words))()
        self._out = (c_uint32 * (sum(port.words for port in library.ports) - sum(words)))()
        self._block = self._library.block_new(mutant)

    def __del__(self) -> None:
        self._library.block_delete(self._block)

    def evaluate(self, inputs: int, *, has_edge: bool = False) -> int:
        """Outputs at given inputs, one port after the other, each in whole words.

        Parameters
        ----------
        inputs : int
            Likewise.
        has_edge : bool
            Whether a rising edge of the clock comes behind them; the outputs are then those after
            it.
        """
        size = len(self._in) * WORD_BITS // 8
        memmove(self._in, inputs.to_bytes(size, "little"), size)
        self._library.block_evaluate(self._block, self._in, self._out, int(has_edge))
        return int.from_bytes(bytes(self._out), "little")


def build_block(folder: Path, module: str) -> BlockLibrary:
    """Shared library of a module of a build with mutants, built or found in the cache.

    Parameters
    ----------
    folder : Path
        The build with mutants.
    module : str
        Name of the module.

    Raises
    ------
    BuildError
        If Verilator or the C++ compiler fails.
    KeyError
        If there is no such module.
    """
    source = folder / MUTATED
    body = module_bodies(source.read_text(encoding="utf-8"))[module]
    every = [
        Port(name, int(high or 0) + 1, kind == "input") for kind, high, name in _PORT.findall(body)
    ]
    ports = tuple(port for port in every if port.name not in (CLOCK, RESET, SELECTOR))
    key = build_key(module, _VERILATE, MAKE_FAST, files=[source, Path(__file__)])
    built = cache_folder() / "blocks" / f"{module}-{key}"
    build_once(built, lambda unfinished: _compile(source, module, every, unfinished))
    return BlockLibrary(built, ports, has_clock=any(port.name == CLOCK for port in every))


def _compile(source: Path, module: str, ports: Sequence[Port], folder: Path) -> None:
    (folder / "block.cpp").write_text(_driver(ports), encoding="utf-8")
    run_tool(
        ["verilator", *_VERILATE, "--prefix", "Vblock", "--top", module, "-Mdir", "obj",
         str(source.resolve()), str(folder.resolve() / "block.cpp"), "-o", _LIBRARY],
        folder,
    )  # fmt: skip
    make_model(folder / "obj", "Vblock", [ONE_PIECE, "OPT_FAST=-O1", *MAKE_FAST])
    (folder / "obj" / _LIBRARY).rename(folder / _LIBRARY)


def _driver(ports: Sequence[Port]) -> str:
    """C++ that moves ports from and to words."""
    names = {port.name for port in ports}
    lines: dict[bool, list[str]] = {True: [], False: []}
    place = {True: 0, False: 0}
    for port in ports:
        if port.name in (CLOCK, RESET, SELECTOR):
            continue
        side, at = port.is_input, place[port.is_input]
        member = "m." + port.name.replace("__", "___05F")  # as Verilator encodes it
        ends = (f"&{member}", f"{'in' if side else 'out'} + {at}")
        target, origin = ends if side else ends[::-1]
        lines[side].append(f"    std::memcpy({target}, {origin}, sizeof {member});")
        place[side] += port.words
    edge = "m.clk = 1; m.eval(); m.clk = 0; m.eval();" if CLOCK in names else ""
    return "\n".join([
        '#include "Vblock.h"', "#include <cstring>",
        "struct Block { VerilatedContext context; Vblock model{&context}; };",
        'extern "C" Block *block_new(uint32_t mutant) {',
        "    Block *block = new Block;",
        f"    block->model.{SELECTOR} = mutant;",
        "    return block;", "}",
        'extern "C" void block_delete(Block *block) { delete block; }',
        'extern "C" void block_evaluate(',
        "    Block *block, const uint32_t *in, uint32_t *out, int edge) {",
        "    Vblock &m = block->model;",
        *lines[True],
        "    m.eval();",
        f"    if (edge) {{ {edge} }}",
        f"    std::memset(out, 0, {4 * place[False]});",
        *lines[False], "}", "",
    ])  # fmt: skip
