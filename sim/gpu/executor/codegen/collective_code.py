"""Code of barriers, votes, shuffles and their like.

An instruction that lanes run together (``.sync``) begins a basic block, so that lanes that must
wait for others run it again once those have arrived.

Ref: PTX ISA 9.0, Sections 9.7.9.6 (shfl) and 9.7.13 (bar, vote, match, redux).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from racetrap.golden_model.ptx_memory_model.events import check_barrier
from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.operations import only
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS, scalar
from racetrap.sim.gpu.executor.codegen.cluster_code import cluster_barrier
from racetrap.sim.gpu.executor.codegen.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.codegen.flow import Flow, Handler
from racetrap.sim.gpu.executor.machine.collectives import REDUCTIONS, VOTES
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.ptx.module import Immediate, Instruction, Operand, Vector

#: Version of PTX from which on newer GPUs have shuffles with ``.sync`` alone.
_SHUFFLES_NEED_SYNC = [6, 4]

_U32 = np.dtype("u4")
_BOOL = np.dtype(bool)


def needs_members_together(instruction: Instruction) -> bool:
    """Whether the lanes that it names must run the instruction at once."""
    return (
        instruction.opcode in ("shfl", "vote", "match", "redux", "mma", "ldmatrix", "wmma")
        and "sync" in instruction.modifiers
    )


def _number(operand: Immediate) -> int:
    return int(operand.value) & 0xFFFFFFFF


def _parts(e: Emitter, operand: Operand) -> str:
    """Code of the parts that a mask of members divides the active lanes into."""
    if isinstance(operand, Immediate):
        return f"(({_number(operand)}, w.mask),)"
    return f"parts(w, {e.source(operand, _U32)})"


def _no_guard(instruction: Instruction) -> None:
    if instruction.guard is not None:
        raise UnknownInstruction(f"Instruction {instruction.name} cannot have a guard")


def _run_together(e: Emitter, instruction: Instruction, call: str, *types: np.dtype) -> Lines:
    """Code of a call, once all lanes that the last operand names are there; ``n`` are the parts.

    The destination is one operand, or a pair ``d|p``; ``types`` are those of what the call returns.
    """
    _no_guard(instruction)
    destination = instruction.operands[0]
    pair: Sequence[Operand] = (
        destination.elements if isinstance(destination, Vector) else (destination,)
    )
    if len(pair) < len(types):
        call = f"{call}[0]"
    return [
        f"n = {_parts(e, instruction.operands[-1])}",
        f"t = w.warp_sync(n, {event_pc(instruction.index)}, True)",
        "if t is not None: return t",
        *e.assign_call(call, list(zip(pair, types, strict=False)), e.active_lanes),
    ]


def _vote(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    flags = only(instruction, "sync", *VOTES)
    name = next((flag for flag in flags if flag in VOTES), None)
    if name is None or "sync" not in flags:
        raise UnknownInstruction(f"Vote must be a .sync one of {', '.join(VOTES)}")
    _, predicate, _ = instruction.operands
    result = scalar(instruction.modifiers[-1]).dtype
    call = f"vote(w, {name!r}, {e.source(predicate, _BOOL)}, n).astype({e.type(result)})"
    return _run_together(e, instruction, call, result)


def _shuffle(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    flags = only(instruction, "sync", "up", "down", "bfly", "idx")
    if flags[:-1] not in ((), ("sync",)) or flags[-1:] in ((), ("sync",)):
        raise UnknownInstruction(f"Shuffle must be shfl.sync.mode.b32, not {instruction.name}")
    destination, value, lane, clamp, *_ = instruction.operands
    rows = ", ".join(e.source(operand, _U32) for operand in (value, lane, clamp))
    call = f"shuffle({flags[-1]!r}, {rows})"
    if len(flags) > 1:
        return _run_together(e, instruction, call, _U32, _BOOL)
    version = [int(part) for part in flow.module.version.split(".")]
    if version >= _SHUFFLES_NEED_SYNC and int(flow.module.target[3:5]) >= 70:
        raise UnknownInstruction(
            f"Shuffle must be shfl.sync.mode.b32 for .target sm_70 and later from PTX 6.4 on, not "
            f"{instruction.name}"
        )
    # Lanes that run it together take part.
    pair = destination.elements if isinstance(destination, Vector) else (destination,)
    if len(pair) < 2:
        call = f"{call}[0]"
    return e.assign_call(call, list(zip(pair, (_U32, _BOOL), strict=False)), e.active_lanes)


def _match(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    flags = only(instruction, "sync", "any", "all")
    _, value, _ = instruction.operands
    row = e.source(value, scalar(instruction.modifiers[-1]).dtype)
    if "any" in flags:
        return _run_together(e, instruction, f"match_any(w, {row}, n)", _U32)
    return _run_together(e, instruction, f"match_all(w, {row}, n)", _U32, _BOOL)


def _redux(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    flags = only(instruction, "sync", *REDUCTIONS)
    _, value, _ = instruction.operands
    dtype = SCALARS[instruction.modifiers[-1]].dtype
    call = f"reduce_lanes(w, {flags[-1]!r}, {e.source(value, dtype)}, n)"
    return _run_together(e, instruction, call, dtype)


def _active_mask(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    return e.assign_guarded(instruction, (instruction.operands[0], _U32, "active_mask(w)"))


def _barrier(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    if instruction.modifiers[:1] == ("cluster",):
        return cluster_barrier(e, flow, instruction)
    flags = only(
        instruction, "cta", "aligned", "sync", "arrive", "red", "warp", "popc", "and", "or"
    )
    lines = [f"w.pc = {flow.following(instruction)}"]
    if "warp" in flags:
        _no_guard(instruction)
        members = _parts(e, instruction.operands[0])
        return [*lines, f"return w.warp_sync({members}, {event_pc(instruction.index)}, False)"]
    if "red" in flags:
        target, *place, predicate = instruction.operands
        result = e.target(target, _U32 if flags[-1] == "popc" else _BOOL)
        reduction = f", {flags[-1]!r}, {e.source(predicate, _BOOL)}, {result}"
        call = f"return barrier_reduce({{barrier}}{reduction})"
    else:
        place = list(instruction.operands)
        call = "barrier_arrive({barrier})" if "arrive" in flags else "return barrier({barrier})"
    known = [_number(each) if isinstance(each, Immediate) else "" for each in place]
    try:
        check_barrier(known[0], known[1] if len(place) > 1 else None)
    except ValueError as error:
        raise UnknownInstruction(f"{error}, in {instruction.name}") from None
    where, codes = e.bind(flow.place(instruction), ("place", instruction.index)), []
    for name, number, operand in zip(("number", "threads"), known, place, strict=False):
        if isinstance(operand, Immediate):
            codes.append(str(number))
        else:
            codes.append(f"barrier_{name}(w, {{mask}}, {where}, {e.source(operand, _U32)})")
    barrier = f"w, {{mask}}, {event_pc(instruction.index)}, {', '.join([*codes, 'None'][:2])}"
    return lines + e.when_any(instruction, call.replace("{barrier}", barrier))


COLLECTIVE_HANDLERS: dict[str, Handler] = {
    "vote": _vote,
    "shfl": _shuffle,
    "match": _match,
    "redux": _redux,
    "activemask": _active_mask,
    "bar": _barrier,
    "barrier": _barrier,
}
