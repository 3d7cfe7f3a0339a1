"""A kernel, with the functions that it calls, as Python code.

The code is cut into pieces: runs of arithmetic up to the next instruction that others can see
or that lanes may part at.  A piece is a Python function of the warp; a warp's turn is one
piece.  Each piece is there twice: for warps whose living lanes are all active, and for others.

Ref: PTX ISA 9.0; ScoRD (ISCA'20) Section II (SIMT execution).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from racetrap.sim.gpu.executor import (
    bits,
    collectives,
    comparisons,
    conversions,
    floats,
    integers,
)
from racetrap.sim.gpu.executor.collective_code import COLLECTIVE_HANDLERS, is_together
from racetrap.sim.gpu.executor.control_code import CONTROL_HANDLERS
from racetrap.sim.gpu.executor.counters import event_pc
from racetrap.sim.gpu.executor.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.errors import ExecutionError, UnknownInstruction
from racetrap.sim.gpu.executor.flow import CompiledFunction, Flow, Handler, place_of
from racetrap.sim.gpu.executor.lanes import mask_of
from racetrap.sim.gpu.executor.layout import ProgramLayout, reachable
from racetrap.sim.gpu.executor.memory_code import MEMORY_HANDLERS
from racetrap.sim.gpu.executor.operations import Operation, find_operation, known_opcodes
from racetrap.sim.gpu.executor.warp import MET
from racetrap.sim.gpu.ptx.control_flow import is_branch, successors
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.program import Instruction, Module, Variable, Vector

__all__ = ["SUPPORTED", "Piece", "Program", "compile_kernel"]

# Imported so that they register what they define.
_ARITHMETIC = (bits, comparisons, conversions, floats, integers)
_HANDLERS: dict[str, Handler] = {**MEMORY_HANDLERS, **CONTROL_HANDLERS, **COLLECTIVE_HANDLERS}

#: Opcodes that the executor knows; which forms of them, it says when it compiles.
SUPPORTED: frozenset[str] = known_opcodes() | frozenset(_HANDLERS)

#: Memory that no other thread sees.
_PRIVATE_SPACES = frozenset({"param", "param::func", "param::entry", "local", "const"})
_ENDING = frozenset(
    {*CONTROL_HANDLERS, "atom", "red", "membar", "fence", "bar", "barrier"}
)  # fmt: skip
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


def _ends_piece(instruction: Instruction) -> bool:
    if instruction.opcode in ("ld", "ldu", "st"):
        return not _PRIVATE_SPACES & set(instruction.modifiers)
    return instruction.opcode in _ENDING


def _arithmetic(e: Emitter, instruction: Instruction, operation: Operation) -> Lines:
    """Code of an instruction that only computes."""
    function, results, types = operation
    destination, *sources = instruction.operands
    destinations = destination.elements if isinstance(destination, Vector) else (destination,)
    if len(sources) != len(types) or len(destinations) != len(results):
        raise UnknownInstruction(
            f"Operands of {instruction.name} must be {len(results)} and {len(types)}, "
            f"not {len(destinations)} and {len(sources)}"
        )
    rows = ", ".join(
        e.source(operand, dtype) for operand, dtype in zip(sources, types, strict=True)
    )
    targets = [
        e.target(operand, dtype) for operand, dtype in zip(destinations, results, strict=True)
    ]
    lines, lanes = e.lane_guard(instruction)
    name = e.bind(function)
    if len(targets) == 2:
        lines.append(f"v, q = {name}({rows})")
        return [*lines, *e.assign(targets[0], "v", lanes), *e.assign(targets[1], "q", lanes)]
    uniform = len({*types, *results}) == 1 or results[0] == np.bool_
    if lanes is None and isinstance(function, np.ufunc) and uniform and targets[0]:
        return [f"{name}({rows}, out={targets[0]})"]
    return lines + e.assign(targets[0], f"{name}({rows})", lanes)


class _Compiler:
    """Pieces of one function in one variant."""

    def __init__(self, emitter: Emitter, flow: Flow):
        self._e = emitter
        self._flow = flow

    def _instruction(self, instruction: Instruction) -> Lines:
        try:
            handler = _HANDLERS.get(instruction.opcode)
            if handler is not None:
                return handler(self._e, self._flow, instruction)
            operation = find_operation(instruction)
            if operation is None:
                raise UnknownInstruction(
                    f"Instruction must be one that the executor knows, not {instruction.name}"
                )
            return _arithmetic(self._e, instruction, operation)
        except (UnknownInstruction, KeyError, ValueError) as error:
            sentence = str(error)
            if not isinstance(error, UnknownInstruction):
                sentence = f"Operands must be those of {instruction.name}, not others ({error})"
            raise PtxError(self._flow.module.name, instruction.line, sentence) from error

    def _joins(self) -> set[int]:
        """Where lanes that have parted may meet: the points of reconvergence, and the end."""
        flow = self._flow
        splitting = {"bra", "brx", "ret", "exit"}
        return {flow.compiled.end} | {
            flow.meeting(instruction)
            for instruction in flow.instructions
            if instruction.opcode in splitting
            and (instruction.guard is not None or instruction.opcode == "brx")
        }

    def _starts(self) -> set[int]:
        """Numbers of the instructions at which pieces begin."""
        flow = self._flow
        starts = self._joins() | {flow.compiled.entry}
        for index, instruction in enumerate(flow.instructions):
            if is_branch(instruction):
                starts.update(flow.number(i) for i in successors(flow.compiled.function, index))
            if _ends_piece(instruction) or is_branch(instruction):
                starts.add(flow.following(instruction))
            if is_together(instruction):
                starts.add(instruction.index)
        return starts

    def pieces(self) -> dict[int, tuple[Lines, int]]:
        """Code and number of instructions of each piece."""
        starts, joins = self._starts(), self._joins()
        found: dict[int, tuple[Lines, int]] = {}
        lines: Lines = []
        start, count = self._flow.compiled.entry, 0
        last = None
        for instruction in self._flow.instructions:
            if instruction.index in starts and count:
                if last is not None and not _ends_piece(last):
                    lines.append(f"w.pc = {instruction.index}")
                found[start] = lines, count
                lines, start, count = [], instruction.index, 0
            if not count:
                lines = self._prologue(start, start in joins, instruction)
            count += 1
            lines += self._instruction(instruction)
            # Control and barrier instructions set the program counter on their own.
            if _ends_piece(instruction) and instruction.opcode in _ONWARD:
                lines.append(f"w.pc = {self._flow.following(instruction)}")
            last = instruction
        end = self._flow.compiled.end
        if count:
            if last is not None and not _ends_piece(last):
                lines.append(f"w.pc = {end}")
            found[start] = lines, count
        found[end] = self._epilogue(end), 0
        return found

    def _prologue(self, number: int, is_join: bool, instruction: Instruction) -> Lines:
        lines = ["r, s, y = w.rows, w.special, w.symbols"]
        if self._e.masked:
            lines.append("m = w.active_row")
        if is_join:
            lines.insert(0, f"if w.meet({number}, {event_pc(instruction.index)}): return {MET}")
        return lines

    def _epilogue(self, end: int) -> Lines:
        """Code behind the last instruction."""
        instructions = self._flow.instructions
        pc = event_pc(instructions[-1].index) if instructions else 0
        meet = f"if w.meet({end}, {pc}): return {MET}"
        if self._flow.compiled.function.is_kernel:
            return [meet, f"return w.exit(w.mask, {pc})"]
        return [meet, "w.leave()"]


#: Instructions that end a piece and leave the program counter to be set behind them.
_ONWARD = frozenset({"ld", "ldu", "st", "atom", "red", "membar", "fence"})
_HELPERS = (
    "active_mask", "barrier", "barrier_arrive", "barrier_reduce", "branch_indexed", "first",
    "local_address", "match_all", "match_any", "reduce_lanes", "shuffle",
)  # fmt: skip


def _build(
    pieces: dict[int, tuple[Lines, int]], namespace: dict[str, Any], size: int, name: str
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
    for function in functions:
        if not function.defined:
            raise ExecutionError(
                f"{module.name}: called function {function.name} must have a body, not be "
                "declared only"
            )
    size = 1 + max((i.index for f in module.functions.values() for i in f.instructions), default=-1)
    layout = ProgramLayout(module, functions)
    compiled = {
        function.name: CompiledFunction(function, size + n, layout.local_sizes[function.name])
        for n, function in enumerate(functions)
    }
    layout.namespace.update({name: getattr(collectives, name) for name in _HELPERS})
    layout.namespace.update(copyto=np.copyto, mask_of=mask_of)
    variants: list[dict[int, tuple[Lines, int]]] = [{}, {}]
    for function in compiled.values():
        flow = Flow(module, function, compiled)
        for masked, pieces in enumerate(variants):
            emitter = Emitter(function.function, function.table, layout, bool(masked))
            pieces.update(_Compiler(emitter, flow).pieces())
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
        If there is no such kernel, or it calls a function without a body.
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
