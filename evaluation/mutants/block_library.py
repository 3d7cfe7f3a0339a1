"""A block of a build with mutants as a shared library, without the system around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ctypes import POINTER, c_int, c_uint32, c_void_p, memmove
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from racetrap.sim.compiled_library import Functions, load_library
from racetrap.sim.content_cache import cache_folder
from racetrap.sim.cosim.fast.ports import member_name, words_of_bits
from racetrap.sim.cosim.verilator.build_cache import (
    MAKE_FAST,
    ONE_PIECE,
    SHARED_LIBRARY,
    build_key,
    build_once,
    make_model,
    run_tool,
)
from racetrap.sim.cosim.verilator.first_instance import module_bodies
from racetrap.sim.cosim.verilator.mutants import MUTATED, SELECTOR

#: Clock and reset among the ports.
_CLOCK, _RESET = "clk", "rst"
_LIBRARY = "libblock.so"
_PORT = re.compile(r"^  (input|output) (?:\[(\d+):0\] )?(\S+);$", re.MULTILINE)
#: Registers begin as the Verilog says; all others, which it says nothing about, at 0.
_VERILATE = (*SHARED_LIBRARY, "--x-initial", "0")
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
        return words_of_bits(self.width)


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
    key = build_key(module, _VERILATE, MAKE_FAST, files=[source, Path(__file__)])
    library = BlockLibrary(
        cache_folder() / "blocks" / f"{module}-{key}",
        tuple(port for port in every if port.name not in (_CLOCK, _RESET, SELECTOR)),
        has_clock=any(port.name == _CLOCK for port in every),
    )
    build_once(
        library.folder,
        lambda unfinished: _compile(source, module, replace(library, folder=unfinished)),
    )
    return library


def _compile(source: Path, module: str, library: BlockLibrary) -> None:
    folder = library.folder
    (folder / "block.cpp").write_text(_driver(library), encoding="utf-8")
    run_tool(
        ["verilator", *_VERILATE, "--prefix", "Vblock", "--top", module, "-Mdir", "obj",
         str(source.resolve()), str(folder.resolve() / "block.cpp"), "-o", _LIBRARY],
        folder,
    )  # fmt: skip
    make_model(folder / "obj", "Vblock", [ONE_PIECE, "OPT_FAST=-O1", *MAKE_FAST])
    (folder / "obj" / _LIBRARY).rename(folder / _LIBRARY)


def _driver(library: BlockLibrary) -> str:
    """C++ that moves ports from and to words."""
    inputs, outputs = (
        _members([port for port in library.ports if port.is_input == side])
        for side in (True, False)
    )
    edge = "if (edge) { m.clk = 1; m.eval(); m.clk = 0; m.eval(); }" if library.has_clock else ""
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
        *(f"    std::memcpy(&{each}, in + {at}, sizeof {each});" for each, at in inputs),
        "    m.eval();", f"    {edge}",
        # The array is 0 where a port has fewer bits than its words.
        *(f"    std::memcpy(out + {at}, &{each}, sizeof {each});" for each, at in outputs),
        "}", "",
    ])  # fmt: skip


def _members(ports: Sequence[Port]) -> list[tuple[str, int]]:
    """Members of the model that ports are, each with its first word."""
    places = accumulate((port.words for port in ports), initial=0)
    return [(f"m.{member_name(port.name)}", at) for port, at in zip(ports, places, strict=False)]
