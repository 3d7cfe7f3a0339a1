"""The code of a function, cut into pieces.

A piece is a run of arithmetic with the instruction that ends it: one that others can see, or
at which lanes may part or have to wait.  A piece also begins wherever lanes may come from
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from racetrap.sim.gpu.executor import bits, comparisons, conversions, floats, integers
from racetrap.sim.gpu.executor.collective_code import COLLECTIVE_HANDLERS, is_together
from racetrap.sim.gpu.executor.control_code import CONTROL_HANDLERS
from racetrap.sim.gpu.executor.counters import event_pc
from racetrap.sim.gpu.executor.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.errors import UnknownInstruction
from racetrap.sim.gpu.executor.flow import Flow, Handler
from racetrap.sim.gpu.executor.memory_code import MEMORY_HANDLERS
from racetrap.sim.gpu.executor.operations import Operation, find_operation, known_opcodes
from racetrap.sim.gpu.executor.warp import MET
from racetrap.sim.gpu.ptx.control_flow import is_branch, successors
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.program import Instruction, Vector

__all__ = ["SUPPORTED", "PieceCode", "pieces_of"]

# Imported so that they register what they define.
_ARITHMETIC = (bits, comparisons, conversions, floats, integers)
_HANDLERS: dict[str, Handler] = {**MEMORY_HANDLERS, **CONTROL_HANDLERS, **COLLECTIVE_HANDLERS}

#: Opcodes that the executor knows; which forms of them, it says when it compiles.
SUPPORTED: frozenset[str] = known_opcodes() | frozenset(_HANDLERS)

#: Memory that no other thread sees.
_PRIVATE_SPACES = frozenset({"param", "param::func", "param::entry", "local", "const"})
#: Instructions whose code says itself where the lanes go on.
_GOING = frozenset({*CONTROL_HANDLERS, "bar", "barrier"})
_VISIBLE = frozenset({"atom", "red", "membar", "fence"})
_SPLITTING = frozenset({"bra", "brx", "ret", "exit"})

#: Code of a piece, and how many instructions it is.
PieceCode = tuple[Lines, int]


def _ends_piece(instruction: Instruction) -> bool:
    if instruction.opcode in ("ld", "ldu", "st"):
        return not _PRIVATE_SPACES & set(instruction.modifiers)
    return instruction.opcode in _GOING or instruction.opcode in _VISIBLE


def _joins(flow: Flow) -> set[int]:
    """Where lanes that have parted may meet: the points of reconvergence, and the end."""
    return {flow.compiled.end} | {
        flow.meeting(instruction)
        for instruction in flow.instructions
        if instruction.opcode in _SPLITTING
        and (instruction.guard is not None or instruction.opcode == "brx")
    }


def _starts(flow: Flow) -> set[int]:
    """Numbers of the instructions at which pieces begin."""
    starts = _joins(flow)
    for index, instruction in enumerate(flow.instructions):
        if is_branch(instruction):
            starts.update(flow.number(i) for i in successors(flow.compiled.function, index))
        if is_branch(instruction) or _ends_piece(instruction):
            starts.add(flow.following(instruction))
        if is_together(instruction):
            starts.add(instruction.index)
    return starts


def _runs(flow: Flow) -> Iterator[list[Instruction]]:
    """Instructions of each piece."""
    starts = _starts(flow)
    run: list[Instruction] = []
    for instruction in flow.instructions:
        if run and instruction.index in starts:
            yield run
            run = []
        run.append(instruction)
    if run:
        yield run


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
    # Straight into the destination, when the ufunc need not convert.
    uniform = len({*types, *results}) == 1 or results[0] == np.bool_
    if lanes is None and isinstance(function, np.ufunc) and uniform and targets[0]:
        return [f"{name}({rows}, out={targets[0]})"]
    return lines + e.assign(targets[0], f"{name}({rows})", lanes)


def _unknown(instruction: Instruction) -> UnknownInstruction:
    return UnknownInstruction(
        f"Instruction must be one that the executor knows, not {instruction.name}"
    )


def _code(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """Code of one instruction.

    Raises
    ------
    PtxError
        If the executor does not know the instruction, or its operands are not its own.
    """
    try:
        handler = _HANDLERS.get(instruction.opcode)
        if handler is not None:
            return handler(e, flow, instruction)
        operation = find_operation(instruction)
        if operation is None:
            raise _unknown(instruction)
        return _arithmetic(e, instruction, operation)
    except UnknownInstruction as error:
        sentence = str(error)
    except (KeyError, IndexError, ValueError):
        # Modifiers or operands are missing, or there are too many.
        sentence = str(_unknown(instruction))
    raise PtxError(flow.module.name, instruction.line, sentence)


def _prologue(e: Emitter, first: Instruction, is_join: bool) -> Lines:
    lines = []
    if is_join:
        lines.append(f"if w.meet({first.index}, {event_pc(first.index)}): return {MET}")
    lines.append("r, s, y = w.rows, w.special, w.symbols")
    return [*lines, "m = w.active_row"] if e.masked else lines


def _end_code(flow: Flow) -> Lines:
    """Code behind the last instruction."""
    end, instructions = flow.compiled.end, flow.instructions
    pc = event_pc(instructions[-1].index) if instructions else 0
    leave = f"return w.exit(w.mask, {pc})" if flow.compiled.function.is_kernel else "w.leave()"
    return [f"if w.meet({end}, {pc}): return {MET}", leave]


def pieces_of(e: Emitter, flow: Flow) -> dict[int, PieceCode]:
    """Pieces of a function by the number of their first instruction.

    Raises
    ------
    PtxError
        If the executor does not know an instruction.
    """
    joins = _joins(flow)
    found: dict[int, PieceCode] = {}
    for run in _runs(flow):
        lines = _prologue(e, run[0], run[0].index in joins)
        for instruction in run:
            lines += _code(e, flow, instruction)
        if run[-1].opcode not in _GOING:
            lines.append(f"w.pc = {flow.following(run[-1])}")
        found[run[0].index] = lines, len(run)
    found[flow.compiled.end] = _end_code(flow), 0
    return found
