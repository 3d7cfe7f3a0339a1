"""Basic blocks of a function, and their code.

A basic block is a run of arithmetic with the instruction that ends it: one that others can see, or
at which lanes may diverge or have to wait.  A block also begins wherever lanes may come from
elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.instruction_set import (
    ARITHMETIC_OPCODES,
    arithmetic_operation,
)
from racetrap.sim.gpu.executor.codegen.async_code import ASYNC_HANDLERS
from racetrap.sim.gpu.executor.codegen.cluster_code import CLUSTER_HANDLERS
from racetrap.sim.gpu.executor.codegen.collective_code import (
    COLLECTIVE_HANDLERS,
    needs_members_together,
)
from racetrap.sim.gpu.executor.codegen.control_code import CONTROL_HANDLERS
from racetrap.sim.gpu.executor.codegen.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.codegen.flow import Flow, Handler
from racetrap.sim.gpu.executor.codegen.matrix_code import MATRIX_HANDLERS
from racetrap.sim.gpu.executor.codegen.memory_code import MEMORY_HANDLERS
from racetrap.sim.gpu.executor.codegen.tile_code import TILE_HANDLERS
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.executor.machine.warp import NOT_RUN
from racetrap.sim.gpu.ptx.control_flow import (
    is_branch,
    is_indirect_call,
    may_diverge,
    successors,
)
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.kernel_names import written_name
from racetrap.sim.gpu.ptx.module import (
    TYPE_BYTES,
    Instruction,
    Operand,
    Register,
    Vector,
    registers_of,
)

_HANDLERS: dict[str, Handler] = {
    **MEMORY_HANDLERS, **CONTROL_HANDLERS, **COLLECTIVE_HANDLERS, **ASYNC_HANDLERS,
    **CLUSTER_HANDLERS, **MATRIX_HANDLERS, **TILE_HANDLERS,
}  # fmt: skip

#: Opcodes that the executor supports; compilation refuses forms of them that it does not.
SUPPORTED: frozenset[str] = ARITHMETIC_OPCODES | frozenset(_HANDLERS)

#: Memory that no other thread sees.
_PRIVATE_SPACES = frozenset({"param", "param::func", "param::entry", "local", "const"})
#: Memory that other threads see, named as such: a generic address may be private.
_WEAK_SPACES = frozenset({"global", "shared", "shared::cluster"})
#: Instructions whose code sets the program counter itself.
_SETTING_PC = frozenset({*CONTROL_HANDLERS, "bar", "barrier"})
#: Instructions behind which registers are those of another call, in a device function and in a
#: kernel, whose end is that of its thread.
_CHANGING_FRAME = (frozenset({"call", "ret", "exit"}), frozenset({"call"}))
#: The carry flag, and the instructions that take it.
_CARRY = Register("%carry", "pred")
_TAKING_CARRY = ("addc", "subc", "madc")
_VISIBLE = frozenset({"atom", "red", "membar", "fence", "cp", "mbarrier", "ldmatrix", "wmma"})
_SYNCHRONISING = (_VISIBLE | {"bar", "barrier"}) - {"cp", "ldmatrix", "wmma"}

#: Parts of a warp by their names in code.
_PARTS = {"r": "rows", "s": "special", "y": "symbols", "m": "active_row"}

#: Code of a basic block, and how many instructions it is.
BlockCode = tuple[Lines, int]


def _ends_block(instruction: Instruction) -> bool:
    if instruction.opcode in ("ld", "ldu", "st"):
        return not _PRIVATE_SPACES & set(instruction.modifiers)
    return instruction.opcode in _SETTING_PC or instruction.opcode in _VISIBLE


def _reconvergence_points(flow: Flow) -> set[int]:
    """Points at which lanes that have diverged may reconverge; the end is one."""
    return {flow.end} | {flow.reconvergence(i) for i in flow.instructions if may_diverge(i)}


def _leaders(flow: Flow) -> set[int]:
    """Numbers of the first instructions of all blocks."""
    leaders = _reconvergence_points(flow)
    for index, instruction in enumerate(flow.instructions):
        if is_branch(instruction):
            leaders.update(flow.number(i) for i in successors(flow.function, index))
        if is_branch(instruction) or _ends_block(instruction):
            leaders.add(flow.following(instruction))
        # These are run again, by lanes that have waited or that call another function.
        if needs_members_together(instruction) or is_indirect_call(instruction):
            leaders.add(instruction.index)
    return leaders


def _runs(flow: Flow) -> Iterator[list[Instruction]]:
    """Instructions of each block."""
    leaders = _leaders(flow)
    run: list[Instruction] = []
    for instruction in flow.instructions:
        if run and instruction.index in leaders:
            yield run
            run = []
        run.append(instruction)
    if run:
        yield run


def _with_carry(instruction: Instruction) -> Sequence[Operand]:
    """Operands, with the carry flag among them if an instruction gives or takes it."""
    destination, *sources = instruction.operands
    if "cc" in instruction.modifiers:
        destination = Vector((destination, _CARRY))
    return [destination, *sources, *([_CARRY] if instruction.opcode in _TAKING_CARRY else [])]


def _arithmetic(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """Code of an instruction that only computes."""
    function, results, types = arithmetic_operation(instruction)
    destination, *sources = _with_carry(instruction)
    destinations = destination.elements if isinstance(destination, Vector) else (destination,)
    if len(sources) != len(types) or len(destinations) != len(results):
        raise UnknownInstruction(
            f"Operands of {instruction.name} must be {len(results)} and {len(types)}, "
            f"not {len(destinations)} and {len(sources)}"
        )
    rows = ", ".join(
        e.source(operand, dtype) for operand, dtype in zip(sources, types, strict=True)
    )
    lines, lanes = e.lane_guard(instruction)
    name = e.bind(function)
    # Straight into the destination, when the ufunc need not convert.
    uniform = len({*types, *results}) == 1 or results[0] == np.bool_
    if lanes is None and isinstance(function, np.ufunc) and uniform:
        target = e.target(destination, results[0])
        return [f"{name}({rows}, out={target})"] if target else []
    pairs = list(zip(destinations, results, strict=True))
    return lines + e.assign_call(f"{name}({rows})", pairs, lanes)


def _code(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """Code of one instruction.

    Raises
    ------
    PtxError
        If the executor does not support the instruction, or the operands do not suit it.
    """
    try:
        lines = _HANDLERS.get(instruction.opcode, _arithmetic)(e, flow, instruction)
        # What a warp has begun to copy may have been copied before it synchronises.
        return ["w.copies.show(w)", *lines] if _shows_copies(e, instruction) else lines
    except UnknownInstruction as error:
        sentence = str(error)
    except (KeyError, IndexError, ValueError):
        # Modifiers or operands are missing, or there are too many.
        sentence = str(UnknownInstruction.named(instruction))
    if location := instruction.location:
        sentence += f" ({location.own}, in {written_name(flow.function.name)})"
    raise PtxError(flow.module.name, instruction.line, sentence)


def _shows_copies(e: Emitter, instruction: Instruction) -> bool:
    """Whether an instruction synchronises, in a program with asynchronous copies."""
    if e.weak or not e.layout.has_copies:
        return False
    strong = not {"volatile", "relaxed", "acquire", "release"}.isdisjoint(instruction.modifiers)
    return strong or instruction.opcode in _SYNCHRONISING


def _reconverge(number: int, pc: int) -> str:
    return f"if w.reconverge({number}, {pc}): return {NOT_RUN}"


def _end_code(flow: Flow) -> Lines:
    """Code behind the last instruction."""
    instructions = flow.instructions
    pc = event_pc(instructions[-1].index) if instructions else 0
    leave = f"return w.exit(w.mask, {pc})" if flow.function.is_kernel else "w.return_to_caller()"
    return [_reconverge(flow.end, pc), leave]


def _may_store_late(instruction: Instruction) -> bool:
    """Whether an instruction stores a whole register to weak memory, which may settle it later."""
    if instruction.opcode != "st" or _WEAK_SPACES.isdisjoint(instruction.modifiers):
        return False
    source, data_type = instruction.operands[-1], instruction.modifiers[-1]
    return isinstance(source, Register) and TYPE_BYTES.get(source.type) == TYPE_BYTES[data_type]


def _touched(e: Emitter, run: list[Instruction], is_kernel: bool) -> str:
    """Code of the registers that a block needs or writes; ``None`` if it changes the frame."""
    if any(instruction.opcode in _CHANGING_FRAME[is_kernel] for instruction in run):
        return "None"
    operands = [operand for instruction in run for operand in instruction.operands]
    if _may_store_late(run[-1]):
        del operands[-1]
    guards = [instruction.guard for instruction in run if instruction.guard is not None]
    names = frozenset(name for operand in (*operands, *guards) for name in registers_of(operand))
    return e.bind(names, ("registers", names))


def _names(code: Lines) -> Lines:
    """Code that gives names to those parts of a warp that a block uses."""
    used = set(re.findall(r"\b\w\b", " ".join(code)))
    return [f"{name} = w.{part}" for name, part in _PARTS.items() if name in used]


def basic_blocks(e: Emitter, flow: Flow) -> dict[int, BlockCode]:
    """Basic blocks of a function by the number of their first instruction.

    Raises
    ------
    PtxError
        If the executor does not support an instruction.
    """
    points = _reconvergence_points(flow)
    found: dict[int, BlockCode] = {}
    for run in _runs(flow):
        first, last = run[0].index, run[-1]
        code: Lines = []
        for e.position, instruction in enumerate(run):
            code += _code(e, flow, instruction)
        lines = [_reconverge(first, event_pc(first))] if first in points else []
        lines += _names(code)
        if e.weak:
            lines.append(f"if w.late: w.settle({_touched(e, run, flow.function.is_kernel)})")
        lines += code
        if last.opcode not in _SETTING_PC:
            lines.append(f"w.pc = {flow.following(last)}")
        found[first] = lines, len(run)
    found[flow.end] = _end_code(flow), 0
    return found
