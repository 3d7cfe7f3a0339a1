"""Code of asynchronous copies and mbarrier objects.

Ref: PTX ISA 9.0, Sections 9.7.9.25 (cp.async) and 9.7.13.15 (mbarrier).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from racetrap.golden_model.events import EventScope, MemoryOrder
from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS
from racetrap.sim.gpu.executor.codegen.access_modes import SCOPES
from racetrap.sim.gpu.executor.codegen.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.codegen.flow import Flow, Handler
from racetrap.sim.gpu.executor.machine.access import Access, AccessMode, Generic, Load, Site, Store
from racetrap.sim.gpu.executor.machine.async_copies import AsyncCopy
from racetrap.sim.gpu.executor.machine.atomics import Atomic
from racetrap.sim.gpu.executor.machine.mbarriers import (
    MBARRIER_OPERATIONS,
    MbarrierWait,
    parity_of,
    pending_count,
)
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.executor.machine.weak_access import WEAK_FORMS
from racetrap.sim.gpu.ptx.module import Immediate, Instruction, Operand

_U32, _U64, _BOOL = np.dtype("u4"), np.dtype("u8"), np.dtype(bool)
_WORD = SCALARS["b32"]
#: Mode of what is no synchronisation.
WEAK_MODE = AccessMode(
    "global", False, EventScope.BLOCK, MemoryOrder.IMPLIED, False, False, 1, _WORD, ""
)
#: Of an mbarrier object.
_OBJECT = WEAK_MODE._replace(space="shared", strong=True, type=SCALARS["b64"])
_ORDERS = {
    "relaxed": MemoryOrder.RELAXED, "acquire": MemoryOrder.ACQUIRE, "release": MemoryOrder.RELEASE,
}  # fmt: skip
_COPY_BYTES = (4, 8, 16)


def _plain_space(name: str) -> str:
    return name.removesuffix("::cta")


def _object_space(instruction: Instruction) -> str:
    """State space of an mbarrier object."""
    names = map(_plain_space, instruction.modifiers)
    return next((name for name in names if name in ("shared", "shared::cluster")), "generic")


def _number(instruction: Instruction, operand: Operand) -> int:
    if not isinstance(operand, Immediate):
        raise UnknownInstruction(f"Operand of {instruction.name} must be a number, not {operand}")
    return int(operand.value)


class AccessMaker:
    """Makes the accesses of one instruction."""

    def __init__(self, e: Emitter, flow: Flow, instruction: Instruction):
        self._e, self._flow, self._instruction = e, flow, instruction

    def make(self, kind: type[Access], mode: AccessMode, offset: int) -> Access:
        """An access of an instruction, by its kind, mode and offset."""
        e, instruction = self._e, self._instruction
        site = Site(
            instruction, self._flow.place(instruction), event_pc(instruction.index),
            e.layout.access_number(instruction), offset,
        )  # fmt: skip
        mode = mode._replace(scope=e.scope(mode.scope))
        return (WEAK_FORMS[kind] if e.weak else kind)(site, mode, e.memory(mode.space))


def _copy(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """``cp.async`` and what belongs to it."""
    what = [name for name in instruction.modifiers if not name.startswith("L2::")]
    if what[:1] != ["async"]:
        raise UnknownInstruction.named(instruction)
    match [_plain_space(name) for name in what[1:]]:
        case ["commit_group"]:
            return e.when_any(instruction, "w.copies.commit({mask})")
        case ["wait_group"]:
            most = _number(instruction, instruction.operands[0])
            return e.when_any(instruction, f"w.copies.wait(w, {{mask}}, {most})")
        case ["wait_all"]:
            return e.when_any(instruction, "w.copies.complete(w, {mask})")
        case ["mbarrier", "arrive", *rest] if "b64" in rest:
            complete = e.when_any(instruction, "w.copies.complete(w, {mask})")
            if "noinc" in rest:
                arrive = _update(e, flow, instruction, "mbarrier.arrive", e.constant(1, _U64))
            else:  # one arrival more is awaited, and it comes
                arrive = _update(e, flow, instruction, "mbarrier.arrive", e.constant(0, _U64))
            return [*complete, *arrive]
        case ["ca" | "cg", "shared", "global"]:
            return _begin_copy(e, flow, instruction)
    raise UnknownInstruction.named(instruction)


def _begin_copy(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    target, source, size, *rest = instruction.operands
    count = _number(instruction, size)
    if count not in _COPY_BYTES:
        raise UnknownInstruction(f"Bytes of {instruction.name} must be 4, 8 or 16, not {count}")
    to, to_offset = e.base(target, "shared")
    begin, offset = e.base(source, "global")
    accesses = AccessMaker(e, flow, instruction)
    loads = {
        words: accesses.make(Load, WEAK_MODE._replace(elements=words), offset)
        for words in range(1, count // 4 + 1)
    }
    store = accesses.make(Store, WEAK_MODE._replace(space="shared", elements=count // 4), to_offset)
    name = e.bind(AsyncCopy(loads, store), ("copy", instruction.index))  # type: ignore[arg-type]
    bytes_read = e.source(rest[0], _U32) if rest else e.constant(count, _U32)
    return e.when_any(instruction, f"{name}(w, {{mask}}, {to}, {begin}, {bytes_read})")


def _order(instruction: Instruction, implied: MemoryOrder) -> MemoryOrder:
    return next((_ORDERS[name] for name in instruction.modifiers if name in _ORDERS), implied)


def _scope(e: Emitter, instruction: Instruction) -> EventScope:
    names = (name for name in instruction.modifiers if name in ("cta", "cluster"))
    return e.scope(SCOPES[next(names, "cta")])


def _update(
    e: Emitter, flow: Flow, instruction: Instruction, operation: str, number: str,
    result: str | None = None,
) -> Lines:  # fmt: skip
    """Code of an atomic update of an object."""
    address = next(each for each in instruction.operands if not _is_destination(instruction, each))
    order = MemoryOrder.IMPLIED
    if "arrive" in operation:
        order = _order(instruction, MemoryOrder.RELEASE)
    releases, scope = order is MemoryOrder.RELEASE, _scope(e, instruction)
    space = _object_space(instruction)
    base, offset = e.base(address, space)
    accesses = AccessMaker(e, flow, instruction)
    mode = _OBJECT._replace(
        space=space, scope=scope, operation=operation,
        order=order if releases else MemoryOrder.IMPLIED,
    )  # fmt: skip
    access: Access | Generic
    if space == "generic":
        access = Generic(lambda space: accesses.make(Atomic, mode._replace(space=space), offset))
    else:
        access = accesses.make(Atomic, mode, offset)
    name = e.bind(access, ("access", instruction.index))
    fence = e.fence_call(instruction, scope, order)
    return [
        *(e.when_any(instruction, fence) if releases else []),
        *e.when_any(instruction, f"{name}(w, {{mask}}, {base}, {result}, {number})"),
    ]


def _is_destination(instruction: Instruction, operand: Operand) -> bool:
    return (
        operand is instruction.operands[0]
        and len(instruction.operands) > 1
        and (instruction.modifiers[0] in ("arrive", "arrive_drop", "test_wait", "try_wait"))
    )


def _mbarrier(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """``mbarrier``."""
    what, *rest = instruction.modifiers
    operands = instruction.operands
    one = e.constant(1, _U64)
    if what in ("test_wait", "try_wait"):
        return _wait(e, flow, instruction)
    if what == "pending_count":
        row = e.bind(pending_count)
        return e.assign_guarded(
            instruction, (operands[0], _U32, f"{row}({e.source(operands[1], _U64)})")
        )
    if what in ("init", "expect_tx", "complete_tx"):
        return _update(e, flow, instruction, f"mbarrier.{what}", _widened(e, operands[1]))
    if what == "inval":
        return _update(e, flow, instruction, "mbarrier.inval", one)
    if what in ("arrive", "arrive_drop"):
        operation = f"mbarrier.{what}{'.expect_tx' * ('expect_tx' in rest)}"
        if operation not in MBARRIER_OPERATIONS:
            raise UnknownInstruction.named(instruction)
        number = _widened(e, operands[2]) if len(operands) > 2 else one
        return _update(e, flow, instruction, operation, number, e.target(operands[0], _U64))
    raise UnknownInstruction.named(instruction)


def _widened(e: Emitter, operand: Operand) -> str:
    if isinstance(operand, Immediate):
        return e.constant(operand.value, _U64)
    return f"{e.source(operand, _U32)}.astype({e.type(_U64)})"


def _wait(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    target, address, phase, *_ = instruction.operands  # a limit of time may follow
    base, offset = e.base(address, "shared")
    # What it waits for is settled at once, whatever the memory.
    accesses = AccessMaker(e, flow, replace(instruction, operands=(address,) * 2))
    order, scope = _order(instruction, MemoryOrder.ACQUIRE), _scope(e, instruction)
    acquire, relaxed = (
        accesses.make(Load, _OBJECT._replace(order=each, scope=scope), offset)
        for each in (order, MemoryOrder.RELAXED)
    )
    acquires = order is MemoryOrder.ACQUIRE
    wait = e.bind(MbarrierWait(acquire, relaxed, acquires), ("wait", instruction.index))  # type: ignore[arg-type]
    if "parity" in instruction.modifiers:
        parity = f"{e.source(phase, _U32)}.astype({e.type(_U64)})"
    else:
        parity = f"{e.bind(parity_of)}({e.source(phase, _U64)})"
    fence = f"lambda mask: {e.fence_call(instruction, scope, order, 'mask')}"
    lines, mask = e.mask_guard(instruction)
    lines.append(f"v = {wait}(w, {mask}, {base}, {parity}, {fence}) if {mask} else None")
    guard, lanes = e.lane_guard(instruction)
    assign = e.assign(e.target(target, _BOOL), "v", lanes)
    return [*lines, *guard, *(f"if v is not None: {line}" for line in assign)]


ASYNC_HANDLERS: dict[str, Handler] = {"cp": _copy, "mbarrier": _mbarrier}
