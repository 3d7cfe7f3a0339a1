"""Code of barriers, votes, shuffles and their like.

An instruction that lanes run together (``.sync``) begins a piece of code, so that lanes that
must wait for others come to it again when those are there.

Ref: PTX ISA 9.0, Sections 9.7.9.6 (shfl) and 9.7.13 (bar, vote, match, redux).
"""

from __future__ import annotations

import numpy as np

from racetrap.sim.gpu.executor.collectives import REDUCTIONS, VOTES
from racetrap.sim.gpu.executor.counters import event_pc
from racetrap.sim.gpu.executor.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.errors import UnknownInstruction
from racetrap.sim.gpu.executor.flow import Flow, Handler
from racetrap.sim.gpu.executor.operations import only
from racetrap.sim.gpu.executor.scalars import SCALARS, scalar
from racetrap.sim.gpu.ptx.program import Immediate, Instruction, Operand, Vector

__all__ = ["COLLECTIVE_HANDLERS", "is_together"]

_U32 = np.dtype("u4")
_BOOL = np.dtype(bool)
_TOGETHER = ("shfl", "vote", "match", "redux")


def is_together(instruction: Instruction) -> bool:
    """Whether the lanes that it names must run the instruction at once."""
    return instruction.opcode in _TOGETHER and "sync" in instruction.modifiers


def _uniform(e: Emitter, operand: Operand) -> str:
    """Code of a number that all lanes have alike."""
    if isinstance(operand, Immediate):
        return str(int(operand.value) & 0xFFFFFFFF)
    return f"first(w, {e.source(operand, _U32)})"


def _meet(e: Emitter, instruction: Instruction, members: str) -> Lines:
    """Code that waits until all members are there."""
    if instruction.guard is not None:
        raise UnknownInstruction(f"Instruction must have no guard in {instruction.name}")
    return [
        f"n = {members}",
        f"t = w.converge(n, {event_pc(instruction.index)}, True)",
        "if t is not None: return t",
    ]


def _two(operand: Operand) -> tuple[Operand, Operand | None]:
    """The destinations of ``d|p``, or the only one."""
    if isinstance(operand, Vector):
        first, second = operand.elements
        return first, second
    return operand, None


def _vote(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    flags = only(instruction, "sync", *VOTES)
    name = next((flag for flag in flags if flag in VOTES), None)
    if name is None or "sync" not in flags:
        raise UnknownInstruction(f"Vote must be a .sync one of {', '.join(VOTES)}")
    target, predicate, members = instruction.operands
    result = scalar(instruction.modifiers[-1]).dtype
    vote = e.bind(VOTES[name], ("vote", name))
    row = e.source(predicate, _BOOL)
    lines = _meet(e, instruction, _uniform(e, members))
    value = f"{e.type(result)}.type({vote}(w.mask & n, w.mask & n & mask_of({row})))"
    return lines + e.assign(e.target(target, result), value, "m" if e.masked else None)


def _shuffle(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    flags = only(instruction, "sync", "up", "down", "bfly", "idx")
    if len(flags) != 2 or flags[0] != "sync":
        raise UnknownInstruction(f"Shuffle must be shfl.sync.mode.b32, not {instruction.name}")
    result, *operands, members = instruction.operands
    target, inside = _two(result)
    rows = ", ".join(e.source(operand, _U32) for operand in operands)
    lanes = "m" if e.masked else None
    lines = _meet(e, instruction, _uniform(e, members))
    lines.append(f"v, q = shuffle({flags[1]!r}, {rows})")
    lines += e.assign(e.target(target, _U32), "v", lanes)
    return lines + (e.assign(e.target(inside, _BOOL), "q", lanes) if inside else [])


def _match(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    flags = only(instruction, "sync", "any", "all")
    result, value, members = instruction.operands
    target, same = _two(result)
    row = e.source(value, scalar(instruction.modifiers[-1]).dtype)
    lanes = "m" if e.masked else None
    lines = _meet(e, instruction, _uniform(e, members))
    if "any" in flags:
        return lines + e.assign(e.target(target, _U32), f"match_any(w, {row}, n)", lanes)
    lines.append(f"v, q = match_all(w, {row}, n)")
    lines += e.assign(e.target(target, _U32), "v", lanes)
    return lines + (e.assign(e.target(same, _BOOL), "q", lanes) if same else [])


def _redux(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    flags = only(instruction, "sync", *REDUCTIONS)
    target, value, members = instruction.operands
    dtype = SCALARS[instruction.modifiers[-1]].dtype
    row = e.source(value, dtype)
    lines = _meet(e, instruction, _uniform(e, members))
    call = f"reduce_lanes(w, {flags[-1]!r}, {row}, n)"
    return lines + e.assign(e.target(target, dtype), call, "m" if e.masked else None)


def _active_mask(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    lines, lanes = e.lane_guard(instruction)
    return lines + e.assign(e.target(instruction.operands[0], _U32), "active_mask(w)", lanes)


def _barrier(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    flags = only(
        instruction, "cta", "aligned", "sync", "arrive", "red", "warp", "popc", "and", "or"
    )
    go_on = f"w.pc = {flow.following(instruction)}"
    lines, mask = e.mask_guard(instruction)
    when = "if g: " if mask == "g" else ""
    if "warp" in flags:
        members = _uniform(e, instruction.operands[0])
        if mask == "g":
            raise UnknownInstruction(f"Instruction must have no guard in {instruction.name}")
        return [go_on, f"return w.converge({members}, {event_pc(instruction.index)}, False)"]
    if "red" in flags:
        return [*lines, go_on, f"{when}return {_reduction(e, instruction, flags[-1], mask)}"]
    place = _barrier_arguments(e, instruction, instruction.operands, mask)
    if "arrive" in flags:
        return [*lines, go_on, f"{when}barrier_arrive({place})"]
    return [*lines, go_on, f"{when}return barrier({place})"]


def _barrier_arguments(
    e: Emitter, instruction: Instruction, operands: tuple[Operand, ...], mask: str
) -> str:
    """Warp, lanes, trace pc, barrier number and thread count."""
    number, *count = operands
    threads = _uniform(e, count[0]) if count else "None"
    return f"w, {mask}, {event_pc(instruction.index)}, {_uniform(e, number)}, {threads}"


def _reduction(e: Emitter, instruction: Instruction, name: str, mask: str) -> str:
    target, *place, predicate = instruction.operands
    dtype = _U32 if name == "popc" else _BOOL
    row, result = e.source(predicate, _BOOL), e.target(target, dtype)
    arguments = _barrier_arguments(e, instruction, tuple(place), mask)
    return f"barrier_reduce({arguments}, {name!r}, {row}, {result})"


COLLECTIVE_HANDLERS: dict[str, Handler] = {
    "vote": _vote,
    "shfl": _shuffle,
    "match": _match,
    "redux": _redux,
    "activemask": _active_mask,
    "bar": _barrier,
    "barrier": _barrier,
}
