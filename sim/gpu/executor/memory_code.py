"""Code of loads, stores, atomics, fences and moves.

Ref: PTX ISA 9.0, Sections 9.7.9 (data movement) and 9.7.13 (synchronisation).
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.events import Scope
from racetrap.sim.gpu.executor.access import Access, Generic, Load, Site, Store
from racetrap.sim.gpu.executor.access_modes import AccessMode, access_mode, fence_scope
from racetrap.sim.gpu.executor.atomics import ATOMIC_OPERATIONS, Atomic
from racetrap.sim.gpu.executor.counters import event_pc
from racetrap.sim.gpu.executor.emitter import ADDRESS, Emitter, Lines
from racetrap.sim.gpu.executor.errors import UnknownInstruction
from racetrap.sim.gpu.executor.flow import Flow, Handler
from racetrap.sim.gpu.executor.memory import LOCAL_WINDOW, SHARED_WINDOW
from racetrap.sim.gpu.executor.operations import only
from racetrap.sim.gpu.executor.scalars import SCALARS, scalar, unsigned
from racetrap.sim.gpu.ptx.program import (
    Address,
    Instruction,
    Operand,
    Symbol,
    Vector,
)

__all__ = ["MEMORY_HANDLERS"]

_WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}


def _elements(operand: Operand, count: int) -> tuple[Operand, ...]:
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    if len(elements) != count:
        raise UnknownInstruction(f"Vector must have {count} elements, not {len(elements)}")
    return elements


def _bits(mode: AccessMode) -> AccessMode:
    """The mode with its type as plain bits, which is all that memory holds."""
    return mode._replace(type=SCALARS[f"b{mode.type.bits}"])


def _symbol_space(e: Emitter, mode: AccessMode, operand: Operand) -> str:
    """The space, also when only the variable that is named tells it."""
    if (
        mode.space == "generic"
        and isinstance(operand, Address)
        and isinstance(operand.base, Symbol)
    ):
        return e.space_of(operand.base.name)
    return mode.space


def _access(
    e: Emitter, flow: Flow, instruction: Instruction, kind: type[Access], mode: AccessMode,
    operand: Operand,
) -> tuple[str, str]:  # fmt: skip
    """Names of the instruction's access and of its row of base addresses."""
    base, offset = e.base(operand)
    number = e.layout.access_number(instruction)
    site = Site(instruction, flow.place(instruction), event_pc(instruction.index), number, offset)

    def make(space: str) -> Access:
        return kind(site, mode, space)

    key = ("access", instruction.index)
    space = _symbol_space(e, mode, operand)
    known = e.layout.bound(key)
    name = known or e.bind(Generic(make) if space == "generic" else make(space), key)
    return name, base


def _with_fences(e: Emitter, instruction: Instruction, mode: AccessMode, access: Lines) -> Lines:
    """A release is a fence before the access, an acquire one after it."""
    fence = e.when_any(instruction, _fence_call(instruction, mode.scope))
    return [*(fence if mode.before else []), *access, *(fence if mode.after else [])]


def _fence_call(instruction: Instruction, scope: Scope) -> str:
    return f"w.recorder.fence(w, {event_pc(instruction.index)}, {{mask}}, {int(scope)})"


def _load(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    mode = access_mode(instruction)
    destination, address = instruction.operands
    if mode.type.kind == "f":
        mode = _bits(mode)
    destinations = _elements(destination, mode.elements)
    if mode.space == "param" and isinstance(address, Address) and isinstance(address.base, Symbol):
        return _load_parameter(e, instruction, mode, destinations, address)
    targets = [e.target(each, mode.type.dtype) for each in destinations]
    # A row for each element, also for those that are thrown away.
    sink = e.bind(np.zeros(32, mode.type.dtype), ("sink", mode.type.dtype.str))
    access, base = _access(e, flow, instruction, Load, mode, address)
    rows = ", ".join(target or sink for target in targets)
    call = e.when_any(instruction, f"{access}(w, {{mask}}, {base}, {rows})")
    return _with_fences(e, instruction, mode, call)


def _load_parameter(
    e: Emitter, instruction: Instruction, mode: AccessMode, destinations: tuple[Operand, ...],
    address: Address,
) -> Lines:  # fmt: skip
    assert isinstance(address.base, Symbol)
    lines, lanes = e.lane_guard(instruction)
    dtype, name, at = mode.type.dtype, address.base.name, address.offset
    for operand in destinations:
        if e.table.has_parameter(name):
            value = e.table.parameter(name, at, dtype)
        else:
            place = (e.layout.offset(e.function, name) + at) // dtype.itemsize
            value = f"w.launch.parameters[{e.type(dtype)}][{place}]"
        lines += e.assign(e.target(operand, dtype), value, lanes)
        at += dtype.itemsize
    return lines


def _store(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    mode = _bits(access_mode(instruction))
    address, source = instruction.operands
    sources = _elements(source, mode.elements)
    rows = [e.source(each, mode.type.dtype) for each in sources]
    if mode.space == "param":
        return _store_parameter(e, instruction, mode, rows, address)
    access, base = _access(e, flow, instruction, Store, mode, address)
    call = e.when_any(instruction, f"{access}(w, {{mask}}, {base}, {', '.join(rows)})")
    return _with_fences(e, instruction, mode, call)


def _store_parameter(
    e: Emitter, instruction: Instruction, mode: AccessMode, rows: list[str], address: Operand
) -> Lines:
    if not isinstance(address, Address) or not isinstance(address.base, Symbol):
        raise UnknownInstruction(f"Parameter to store must be named, not {address}")
    lines, lanes = e.lane_guard(instruction)
    at = address.offset
    for row in rows:
        target = e.table.parameter(address.base.name, at, mode.type.dtype)
        lines += e.assign(target, row, lanes)
        at += mode.type.dtype.itemsize
    return lines


def _atomic(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    mode = access_mode(instruction, ATOMIC_OPERATIONS)
    returns = instruction.opcode == "atom"
    address, *operands = instruction.operands[returns:]
    wanted = 2 if mode.operation == "cas" else 1
    if len(operands) != wanted:
        raise UnknownInstruction(
            f"Operands of {instruction.name} must be {wanted} values, not {len(operands)}"
        )
    dtype = mode.type.dtype
    result = e.target(instruction.operands[0], dtype) if returns else None
    access, base = _access(e, flow, instruction, Atomic, mode, address)
    rows = ", ".join(e.source(operand, dtype) for operand in operands)
    call = e.when_any(instruction, f"{access}(w, {{mask}}, {base}, {result}, {rows})")
    return _with_fences(e, instruction, mode, call)


def _fence(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    return e.when_any(instruction, _fence_call(instruction, fence_scope(instruction)))


def _nothing(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """Hints without an effect that the executor knows of."""
    return []


def _convert_address(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    names = [name.removesuffix("::cta") for name in instruction.modifiers]
    space = next((name for name in names if name in ("global", "const", "param", *_WINDOWS)), None)
    if space is None:
        raise UnknownInstruction(f"Space must be named in {instruction.name}, not left out")
    dtype = scalar(names[-1]).dtype
    target, source = instruction.operands
    value = e.source(source, dtype)
    if space in _WINDOWS:
        sign = "-" if "to" in names else "+"
        value = f"{value} {sign} {e.constant(_WINDOWS[space], ADDRESS)}"
    lines, lanes = e.lane_guard(instruction)
    return [*lines, *e.assign(e.target(target, dtype), value, lanes)]


def _move(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    only(instruction)
    dtype = unsigned(scalar(instruction.modifiers[-1]).dtype)
    target, source = instruction.operands
    lines, lanes = e.lane_guard(instruction)
    if isinstance(target, Vector):
        return lines + _unpack(e, target, source, dtype, lanes)
    if isinstance(source, Vector):
        return lines + _pack(e, target, source, dtype, lanes)
    value = e.source(source, dtype)
    return lines + e.assign(e.target(target, dtype), value, lanes)


def _part(dtype: np.dtype, count: int) -> np.dtype:
    return np.dtype(f"u{dtype.itemsize // count}")


def _unpack(
    e: Emitter, targets: Vector, source: Operand, dtype: np.dtype, lanes: str | None
) -> Lines:
    part = _part(dtype, len(targets.elements))
    whole = e.source(source, dtype)
    lines: Lines = []
    for number, operand in enumerate(targets.elements):
        shift = e.constant(8 * part.itemsize * number, dtype)
        target = e.target(operand, part)
        lines += e.assign(target, f"({whole} >> {shift}).astype({e.type(part)})", lanes)
    return lines


def _pack(
    e: Emitter, target: Operand, sources: Vector, dtype: np.dtype, lanes: str | None
) -> Lines:
    part = _part(dtype, len(sources.elements))
    pieces = [
        f"{e.source(operand, part)}.astype({e.type(dtype)}) << "
        f"{e.constant(8 * part.itemsize * number, dtype)}"
        for number, operand in enumerate(sources.elements)
    ]
    return e.assign(e.target(target, dtype), " | ".join(f"({piece})" for piece in pieces), lanes)


MEMORY_HANDLERS: dict[str, Handler] = {
    "ld": _load,
    "ldu": _load,
    "st": _store,
    "atom": _atomic,
    "red": _atomic,
    "membar": _fence,
    "fence": _fence,
    "cvta": _convert_address,
    "mov": _move,
    "prefetch": _nothing,
    "prefetchu": _nothing,
    "nanosleep": _nothing,
}
