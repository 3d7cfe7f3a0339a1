"""A kernel, with the functions that it calls, as Python code.

The code is cut into pieces, see `pieces`.  A piece is a Python function of the warp; a warp's
turn is one piece.  Each piece is there twice: for warps whose living lanes are all active, and
for others.

Ref: PTX ISA 9.0; ScoRD (ISCA'20) Section II (SIMT execution).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from racetrap.sim.gpu.executor import collectives
from racetrap.sim.gpu.executor.emitter import Emitter
from racetrap.sim.gpu.executor.errors import ExecutionError
from racetrap.sim.gpu.executor.flow import CompiledFunction, Flow, place_of
from racetrap.sim.gpu.executor.lanes import mask_of
from racetrap.sim.gpu.executor.layout import ProgramLayout, reachable
from racetrap.sim.gpu.executor.pieces import PieceCode, pieces_of
from racetrap.sim.gpu.ptx.program import Module, Variable

__all__ = ["Piece", "Program", "compile_kernel"]

_CACHED_PROGRAMS = 256

#: The code, and how many instructions it is.
Piece = tuple[Callable[[Any], int | None], int]


class Program(NamedTuple):
    """A compiled kernel.

    Parameters
    ----------
    kernel : CompiledFunction
        Where it begins.
    full, masked : list of Piece or None
        Pieces by the number of their first instruction, in both variants.
    symbols : list of str
        Module variables whose addresses the code needs.
    specials : list of str
        Special registers that it reads.
    access_count : int
        Memory instructions.
    static_shared : int
        Bytes of shared memory, without dynamic.
    parameters : tuple of Variable
        Parameters of the kernel.
    places : dict of int to str
        Source lines by instruction.
    max_threads : int, optional
        Threads of a block at most, as the kernel says.
    """

    kernel: CompiledFunction
    full: list[Piece | None]
    masked: list[Piece | None]
    symbols: list[str]
    specials: list[str]
    access_count: int
    static_shared: int
    parameters: tuple[Variable, ...]
    places: dict[int, str]
    max_threads: int | None


_HELPERS = (
    "active_mask", "barrier", "barrier_arrive", "barrier_reduce", "branch_indexed", "first",
    "local_address", "match_all", "match_any", "reduce_lanes", "shuffle",
)  # fmt: skip


def _build(
    pieces: dict[int, PieceCode], namespace: dict[str, Any], size: int, name: str
) -> list[Piece | None]:
    """Compile the pieces' code."""
    text = [
        f"def p{number}(w):\n    " + "\n    ".join(lines) for number, (lines, _) in pieces.items()
    ]
    local = dict(namespace)
    exec(compile("\n".join(text), name, "exec"), local)
    table: list[Piece | None] = [None] * size
    for number, (_, count) in pieces.items():
        table[number] = local[f"p{number}"], count
    return table


def _compile(module: Module, kernel: str) -> Program:
    functions = reachable(module, kernel)
    size = 1 + max((i.index for f in module.functions.values() for i in f.instructions), default=-1)
    layout = ProgramLayout(module, functions)
    compiled = {
        function.name: CompiledFunction(function, size + n, layout.local_sizes[function.name])
        for n, function in enumerate(functions)
    }
    layout.namespace.update({name: getattr(collectives, name) for name in _HELPERS})
    layout.namespace.update(copyto=np.copyto, mask_of=mask_of)
    variants: list[dict[int, PieceCode]] = [{}, {}]
    for function in compiled.values():
        flow = Flow(module, function, compiled)
        for masked, pieces in enumerate(variants):
            emitter = Emitter(function.function, function.table, layout, bool(masked))
            pieces.update(pieces_of(emitter, flow))
    size += len(functions)
    full, masked_table = (
        _build(pieces, layout.namespace, size, f"<{module.name} {kernel}>") for pieces in variants
    )
    places = {i.index: place_of(module, i) for f in functions for i in f.instructions}
    places.update({c.end: f"end of {c.name}" for c in compiled.values()})
    return Program(
        compiled[kernel], full, masked_table, layout.symbols, layout.specials, layout.access_count,
        layout.static_shared, functions[0].parameters, places, functions[0].max_threads,
    )  # fmt: skip


#: Modules are kept with their programs, so that no other module gets the same identity.
_programs: OrderedDict[tuple[int, str], tuple[Module, Program]] = OrderedDict()


def compile_kernel(module: Module, kernel: str) -> Program:
    """The program of a kernel; compiled once, and kept while it is in use.

    Raises
    ------
    ExecutionError
        If there is no such kernel.
    PtxError
        If it, or a function that it calls, has an instruction that the executor does not know.
    """
    key = id(module), kernel
    if key not in _programs:
        function = module.functions.get(kernel)
        if function is None or not function.is_kernel or not function.defined:
            names = ", ".join(f.name for f in module.functions.values() if f.is_kernel) or "none"
            raise ExecutionError(f"Kernel must be one of {module.name} ({names}), not {kernel}")
        _programs[key] = module, _compile(module, kernel)
        if len(_programs) > _CACHED_PROGRAMS:
            _programs.popitem(last=False)
    _programs.move_to_end(key)
    return _programs[key][1]
