"""Loads, stores, atomics, fences and instructions on registers, from their suffixes and operands.

Ref: PTX ISA 9.0, Sections 9.7.1 (Integer Arithmetic), 9.7.6 (Comparison), 9.7.9.8 (ld), 9.7.9.11
(st), 9.7.13.4 (membar, fence), 9.7.13.5 (atom) and 9.7.13.7 (red).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from racetrap.golden_model.ptx_memory_model.events import Order
from racetrap.golden_model.ptx_memory_model.litmus.instructions import (
    Access,
    Arithmetic,
    Atomic,
    Comparison,
    Fence,
    Load,
    Store,
)
from racetrap.golden_model.ptx_memory_model.litmus.modifiers import Modifiers
from racetrap.golden_model.ptx_memory_model.litmus.operands import Form, OperandList
from racetrap.golden_model.ptx_memory_model.scopes import Scope

_WIDTHS = ("8", "16", "32", "64")
_TYPES = tuple(letter + bits for bits in _WIDTHS for letter in "bus")
#: A narrower signed value would be extended in a register.
_LOADED = tuple(name for name in _TYPES if name not in ("s8", "s16"))
_UNTYPED = ("b32", "b64")
_NUMBERS = ("u32", "s32", "u64", "s64")
_WEAK, _DEFAULT_ATOMIC = Access(), Access(Order.RELAXED, Scope.GPU)

#: Operands after the address of each atomic operation, and its types as the assembler takes them.
_ATOMICS = MappingProxyType({
    "exch": (1, _UNTYPED), "cas": (2, (*_UNTYPED, "b16")), "add": (1, _NUMBERS[:3]),
    "inc": (1, ("u32",)), "dec": (1, ("u32",)), "min": (1, _NUMBERS), "max": (1, _NUMBERS),
    "and": (1, _UNTYPED), "or": (1, _UNTYPED), "xor": (1, _UNTYPED),
})  # fmt: skip
#: Sources of each instruction on registers.
_ARITHMETIC = MappingProxyType({"mov": 1, "add": 2, "sub": 2, "and": 2, "or": 2, "xor": 2})
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def _load(_: str, modifiers: Modifiers, operands: OperandList) -> Load:
    allowed = (Order.WEAK, Order.RELAXED, Order.ACQUIRE)
    access = modifiers.access(allowed, _WEAK)
    width = int(modifiers.take("v2", "v4")[1:] or 1)
    destinations = operands.vector(width)
    if not all(isinstance(register, str) for register in destinations):
        raise ValueError(f"Destination of ld must be a register, not {destinations[0]}")
    address = operands.address()
    return Load(access, modifiers.data_type(_LOADED), tuple(map(str, destinations)), address)


def _store(_: str, modifiers: Modifiers, operands: OperandList) -> Store:
    access = modifiers.access((Order.WEAK, Order.RELAXED, Order.RELEASE), _WEAK)
    width = int(modifiers.take("v2", "v4")[1:] or 1)
    address = operands.address()
    return Store(access, modifiers.data_type(_TYPES), operands.vector(width), address)


def _atomic(name: str, modifiers: Modifiers, operands: OperandList) -> Atomic:
    is_reduction = name == "red"
    orders = [Order.RELAXED, Order.RELEASE]
    if not is_reduction:
        orders += [Order.ACQUIRE, Order.ACQ_REL]
    access = modifiers.access(orders, _DEFAULT_ATOMIC)
    if access.volatile:
        raise ValueError(f"{name} cannot be .volatile")
    operation = modifiers.take(*_ATOMICS)
    if not operation or (is_reduction and operation in ("exch", "cas")):
        known = [one for one in _ATOMICS if not (is_reduction and one in ("exch", "cas"))]
        raise ValueError(f"{name} must have one of {', '.join(known)}, not {operation or 'none'}")
    count, types = _ATOMICS[operation]
    data_type = modifiers.data_type(types, types[0])
    destination = "" if is_reduction else operands.register()
    address = operands.address()
    values = tuple(operands.value() for _ in range(count))
    return Atomic(access, operation, data_type, destination, address, values, is_reduction)


def _fence(_: str, modifiers: Modifiers, operands: OperandList) -> Fence:
    orders = (Order.SC, Order.ACQ_REL, Order.ACQUIRE, Order.RELEASE)
    order = modifiers.order(orders, Order.ACQ_REL)
    scope = modifiers.scope()
    if scope is None:
        raise ValueError("fence lacks a scope: add .cta, .cluster, .gpu or .sys")
    return Fence(order, scope)


def _membar(_: str, modifiers: Modifiers, operands: OperandList) -> Fence:
    levels = {"cta": Scope.CTA, "gl": Scope.GPU, "sys": Scope.SYS}
    level = modifiers.take(*levels)
    if not level:
        raise ValueError("membar lacks its level: add .cta, .gl or .sys")
    return Fence(Order.SC, levels[level])


def _arithmetic(name: str, modifiers: Modifiers, operands: OperandList) -> Arithmetic:
    data_type = modifiers.data_type(_TYPES)
    destination = operands.register()
    sources = tuple(operands.value() for _ in range(_ARITHMETIC[name]))
    return Arithmetic(name, data_type, destination, sources)


def _comparison(_: str, modifiers: Modifiers, operands: OperandList) -> Comparison:
    name = modifiers.take(*_COMPARISONS)
    if not name:
        raise ValueError(f"setp lacks its comparison: add one of {', '.join(_COMPARISONS)}")
    data_type = modifiers.data_type(_TYPES)
    destination = operands.register()
    return Comparison(name, data_type, destination, (operands.value(), operands.value()))


#: Constructor of each instruction on memory.
MEMORY_FORMS: Mapping[str, Form] = MappingProxyType({
    "ld": _load, "st": _store, "atom": _atomic, "red": _atomic, "fence": _fence,
    "membar": _membar,
})  # fmt: skip
#: Constructor of each instruction on registers.
ARITHMETIC_FORMS: Mapping[str, Form] = MappingProxyType({
    "setp": _comparison, **dict.fromkeys(_ARITHMETIC, _arithmetic),
})  # fmt: skip
