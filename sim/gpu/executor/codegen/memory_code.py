"""Code of loads, stores, atomics, fences and moves.

Ref: PTX ISA 9.0, Sections 9.7.9 (data movement) and 9.7.13 (synchronisation).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.operations import only
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS, scalar, unsigned
from racetrap.sim.gpu.executor.codegen.access_modes import access_mode, fence_mode
from racetrap.sim.gpu.executor.codegen.emitter import Emitter, Lines
from racetrap.sim.gpu.executor.codegen.flow import Flow, Handler
from racetrap.sim.gpu.executor.machine.access import (
    Access,
    AccessMode,
    Generic,
    Load,
    Site,
    Store,
)
from racetrap.sim.gpu.executor.machine.atomics import ATOMIC_OPERATIONS, Atomic
from racetrap.sim.gpu.executor.machine.memory import LOCAL_WINDOW, SHARED_WINDOW
from racetrap.sim.gpu.executor.machine.program_counters import event_pc
from racetrap.sim.gpu.executor.machine.weak_access import WEAK_FORMS
from racetrap.sim.gpu.ptx.module import (
    Address,
    Instruction,
    Operand,
    Symbol,
    Vector,
)

_WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}


def _elements(operand: Operand, count: int) -> tuple[Operand, ...]:
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    if len(elements) != count:
        raise UnknownInstruction(f"Vector must have {count} elements, not {len(elements)}")
    return elements


def _bits(mode: AccessMode) -> AccessMode:
    """The mode with its type as plain bits, which is all that memory holds."""
    return mode._replace(type=SCALARS[f"b{mode.type.bits}"])


def _access(
    e: Emitter, flow: Flow, instruction: Instruction, kind: type[Access], mode: AccessMode,
    operand: Operand, rows: Iterable[str | None],
) -> Lines:  # fmt: skip
    """Code of a memory instruction: a release fences before the access, an acquire after it."""
    space = mode.space
    mode = mode._replace(scope=e.scope(mode.scope))
    base, offset, _ = e.own_base(operand, space)
    number = e.layout.access_number(instruction)
    site = Site(instruction, flow.place(instruction), event_pc(instruction.index), number, offset)
    match operand:
        case Address(Symbol(name)) if space == "generic":
            space = e.space_of(name)

    def make(space: str) -> Access:
        visible = space == "global" or space.startswith("shared")
        return (WEAK_FORMS[kind] if e.weak and visible else kind)(site, mode, e.memory(space))

    access: Any = Generic(make) if space == "generic" else make(space)
    # Python calls a method faster than an object that has it.
    name = e.bind(access.__call__, ("access", instruction.index))
    call = e.when_any(instruction, f"{name}(w, {{mask}}, {base}, {', '.join(map(str, rows))})")
    fence = e.when_any(instruction, e.fence_call(instruction, mode.scope, mode.order))
    return [*(fence if mode.before else []), *call, *(fence if mode.after else [])]


def _load(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    mode = access_mode(instruction)
    destination, address = instruction.operands
    if mode.type.kind == "f":
        mode = _bits(mode)
    destinations = _elements(destination, mode.elements)
    match address:
        case Address(Symbol(name), offset) if mode.space == "param":
            return _load_parameter(e, instruction, mode, destinations, name, offset)
    targets = [e.target(each, mode.type.dtype) for each in destinations]
    # A row for each element, also for those that are thrown away.
    sink = e.bind(np.zeros(32, mode.type.dtype), ("sink", mode.type.dtype.str))
    rows = [target or sink for target in targets]
    return _access(e, flow, instruction, Load, mode, address, rows)


def _load_parameter(
    e: Emitter, instruction: Instruction, mode: AccessMode, destinations: tuple[Operand, ...],
    name: str, offset: int,
) -> Lines:  # fmt: skip
    dtype = mode.type.dtype

    def value(at: int) -> str:
        if e.table.has_parameter(name):
            return e.table.parameter(name, at, dtype)
        place = (e.layout.offset(e.function, name) + at) // dtype.itemsize
        return f"w.launch.parameters[{e.type(dtype)}][{place}]"

    return e.assign_guarded(
        instruction,
        *(
            (operand, dtype, value(offset + number * dtype.itemsize))
            for number, operand in enumerate(destinations)
        ),
    )


def _store(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    mode = _bits(access_mode(instruction))
    address, source = instruction.operands
    sources = _elements(source, mode.elements)
    rows = [e.source(each, mode.type.dtype) for each in sources]
    if mode.space == "param":
        return _store_parameter(e, instruction, mode, rows, address)
    return _access(e, flow, instruction, Store, mode, address, rows)


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
    rows = [result, *(e.source(operand, dtype) for operand in operands)]
    return _access(e, flow, instruction, Atomic, mode, address, rows)


def _fence(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    scope, order = fence_mode(instruction)
    scope = e.scope(scope)
    lines = e.when_any(instruction, e.fence_call(instruction, scope, order))
    if e.weak:
        place = event_pc(instruction.index)
        call = f"w.launch.weak.fence(w, {{mask}}, {place}, {int(scope)}, {int(order)})"
        lines += e.when_any(instruction, call)
    return lines


def _nothing(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    """Hints, which have no effect here."""
    return []


def _convert_address(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    names = [name.partition("::")[0] for name in instruction.modifiers]
    space = next((name for name in names if name in ("global", "const", "param", *_WINDOWS)), None)
    if space is None:
        raise UnknownInstruction(f"Instruction {instruction.name} lacks its state space")
    dtype = scalar(names[-1]).dtype
    target, source = instruction.operands
    value = e.source(source, dtype)
    if space in _WINDOWS:
        sign = "-" if "to" in names else "+"
        value = f"{value} {sign} {e.constant(_WINDOWS[space], dtype)}"
    return e.assign_guarded(instruction, (target, dtype, value))


def _element_type(dtype: np.dtype, vector: Vector) -> np.dtype:
    """Type of the elements that a value is packed from."""
    return np.dtype(f"u{dtype.itemsize // len(vector.elements)}")


def _move(e: Emitter, flow: Flow, instruction: Instruction) -> Lines:
    only(instruction)
    dtype = unsigned(scalar(instruction.modifiers[-1]).dtype)
    target, source = instruction.operands
    if isinstance(target, Vector):
        return _unpack(e, instruction, target, source, dtype)
    value = _packed(e, source, dtype) if isinstance(source, Vector) else e.source(source, dtype)
    return e.assign_guarded(instruction, (target, dtype, value))


def _unpack(
    e: Emitter, instruction: Instruction, targets: Vector, source: Operand, dtype: np.dtype
) -> Lines:
    element, whole = _element_type(dtype, targets), e.source(source, dtype)
    return e.assign_guarded(
        instruction,
        *(
            (
                operand, element,
                f"({whole} >> {e.constant(8 * element.itemsize * number, dtype)})"
                f".astype({e.type(element)})",
            )
            for number, operand in enumerate(targets.elements)
        ),
    )  # fmt: skip


def _packed(e: Emitter, sources: Vector, dtype: np.dtype) -> str:
    element = _element_type(dtype, sources)
    return " | ".join(
        f"({e.source(operand, element)}.astype({e.type(dtype)}) << "
        f"{e.constant(8 * element.itemsize * number, dtype)})"
        for number, operand in enumerate(sources.elements)
    )


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
