"""Code of the barrier of a cluster, and of addresses in the shared memories of its blocks.

Ref: PTX ISA 9.0, Sections 9.7.9.20 (isspacep), 9.7.9.23 (mapa), 9.7.9.24 (getctarank) and
9.7.13.4 (barrier.cluster).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from racetrap.golden_model.events import SHARED_BITS, MemoryOrder
from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.operations import only
from racetrap.sim.gpu.executor.arithmetic.scalars import scalar
from racetrap.sim.gpu.executor.codegen.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.codegen.flow import Flow, Handler
from racetrap.sim.gpu.executor.machine.cluster import mapped, ranks_of
from racetrap.sim.gpu.executor.machine.memory import LOCAL_WINDOW, SHARED_WINDOW
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.ptx.module import Instruction

_U32, _U64, _BOOL = np.dtype("u4"), np.dtype("u8"), np.dtype(bool)
#: First address behind a block's own part of the window of shared memory.
_OWN_END = 1 << SHARED_BITS


def cluster_barrier(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """``barrier.cluster``."""
    what, *rest = only(
        instruction, "cluster", "arrive", "wait", "aligned", "release", "relaxed", "acquire"
    )[1:]
    orders = [name for name in rest if name != "aligned"]
    where = e.bind(flow.place(instruction), ("place", instruction.index))
    place = f"{event_pc(instruction.index)}, {where}"
    lines = [f"w.pc = {flow.following(instruction)}"]
    if what == "arrive" and orders in ([], ["release"], ["relaxed"]):
        order = MemoryOrder.RELAXED if "relaxed" in orders else MemoryOrder.RELEASE
        order_name = e.bind(order)
        call = f"w.block.cluster.arrive(w, {{mask}}, {order_name}, {place})"
        return lines + e.when_any(instruction, call)
    if what == "wait" and orders in ([], ["acquire"]):
        return lines + e.when_any(instruction, f"return w.block.cluster.wait(w, {{mask}}, {place})")
    raise UnknownInstruction.named(instruction)


def _type_of_address(instruction: Instruction) -> np.dtype[Any]:
    """Type of a generic address, or of one in the shared memories of a cluster."""
    *spaces, kind = instruction.modifiers
    if any(name != "shared::cluster" for name in spaces):
        raise UnknownInstruction.named(instruction)
    return np.dtype(f"u{scalar(kind).dtype.itemsize}")


def _map(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """``mapa``."""
    dtype = _type_of_address(instruction)
    target, address, rank = instruction.operands
    where = e.bind(flow.place(instruction), ("place", instruction.index))
    rows = f"{e.source(address, dtype)}, {e.source(rank, _U32)}"
    return e.assign_guarded(instruction, (target, dtype, f"{e.bind(mapped)}(w, {where}, {rows})"))


def _rank(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """``getctarank``."""
    target, address = instruction.operands
    row = e.source(address, _type_of_address(instruction))
    return e.assign_guarded(instruction, (target, _U32, f"{e.bind(ranks_of)}({row})"))


def _is_in_space(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """``isspacep``."""
    target, address = instruction.operands
    row = e.source(address, _U64)
    if len(instruction.modifiers) != 1:
        raise UnknownInstruction.named(instruction)

    def starts(window: int, end: int) -> str:
        return f"(({row} - {e.constant(window, _U64)}) < {e.constant(end, _U64)})"

    match instruction.modifiers[0]:
        case "global":
            test = starts(0, SHARED_WINDOW)
        case "local":
            test = starts(LOCAL_WINDOW, SHARED_WINDOW)
        case "shared::cluster":
            test = starts(SHARED_WINDOW, SHARED_WINDOW)
        case "shared" | "shared::cta":
            own = f"{row} - {e.constant(SHARED_WINDOW, _U64)} - w.block.window"
            test = f"(({own}) < {e.constant(_OWN_END, _U64)})"
        case _:
            raise UnknownInstruction.named(instruction)
    return e.assign_guarded(instruction, (target, _BOOL, test))


CLUSTER_HANDLERS: dict[str, Handler] = {
    "mapa": _map,
    "getctarank": _rank,
    "isspacep": _is_in_space,
}
