"""Modifiers of memory instructions: space, order, scope, vector and type.

Ref: PTX ISA 9.0, Sections 8 (memory consistency), 9.7.9 (ld, st) and 9.7.13 (atom, red, fences).
"""

from __future__ import annotations

from collections.abc import Iterable

from racetrap.golden_model.events import EventScope, MemoryOrder
from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS, Scalar
from racetrap.sim.gpu.executor.machine.access import AccessMode
from racetrap.sim.gpu.ptx.module import Instruction

#: Scopes of instructions; of a block that is alone in its cluster ``cluster`` is ``cta``.
SCOPES = {
    "cta": EventScope.BLOCK,
    "cluster": EventScope.CLUSTER,
    "gpu": EventScope.DEVICE,
    "gl": EventScope.DEVICE,
    "sys": EventScope.DEVICE,
}
_SPACES = ("global", "shared", "shared::cluster", "local", "param", "const")
_ORDERS = {order.name.lower(): order for order in MemoryOrder if order}
_STRONG = ("volatile", "cv", *_ORDERS)
#: Hints about caches, which change nothing here.
_HINTS = ("ca", "cg", "cs", "lu", "wb", "wt", "nc", "weak", "noftz", "unified")
_HINT_STARTS = ("L1::", "L2::", "level::")
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}


def _without_hints(names: Iterable[str]) -> list[str]:
    return [name for name in names if name not in _HINTS and not name.startswith(_HINT_STARTS)]


def _order(name: str, atomic: bool) -> MemoryOrder:
    """Order that an access names; that of a relaxed atomic is implied."""
    order = _ORDERS.get(name, MemoryOrder.IMPLIED)
    return MemoryOrder.IMPLIED if atomic and order is MemoryOrder.RELAXED else order


def access_mode(instruction: Instruction, operations: Iterable[str] = ()) -> AccessMode:
    """Mode of a load or store, or of an atomic that does one of ``operations``.

    Raises
    ------
    UnknownInstruction
        If a modifier is unknown or missing.
    """
    atomic = instruction.opcode in ("atom", "red")
    space, order, scope, operation, elements = "generic", "", None, "", 1
    types: list[Scalar] = []
    # ``.shared::cta`` and ``.param::entry`` are the plain spaces in full.
    for name in _without_hints(instruction.modifiers):
        plain = name.removesuffix("::cta").removesuffix("::entry").removesuffix("::func")
        if plain in _SPACES:
            space = plain
        elif name in _STRONG:
            order = name
        elif name in SCOPES:
            scope = SCOPES[name]
        elif atomic and name in operations:
            operation = name
        elif name in _VECTORS and not atomic:
            elements = _VECTORS[name]
        elif name in SCALARS:
            types.append(SCALARS[name])
        elif name == "f16x2" and f"{operation}.{name}" in operations:
            operation = f"{operation}.{name}"
            types.append(SCALARS["b32"])
        else:
            raise UnknownInstruction.named(instruction)
    if len(types) != 1 or (atomic and not operation):
        raise UnknownInstruction.named(instruction)
    strong = atomic or bool(order)
    return AccessMode(
        space=space,
        strong=strong,
        scope=(EventScope.DEVICE if scope is None else scope) if strong else EventScope.BLOCK,
        order=_order(order, atomic),
        before=order in ("release", "acq_rel"),
        after=order in ("acquire", "acq_rel"),
        elements=elements,
        type=types[0],
        operation=operation,
    )


def alone(scope: EventScope) -> EventScope:
    """A scope in a launch whose blocks are each alone in a cluster."""
    return EventScope.BLOCK if scope is EventScope.CLUSTER else scope


def fence_mode(instruction: Instruction) -> tuple[EventScope, MemoryOrder]:
    """Scope and order of ``membar`` or ``fence``.

    Raises
    ------
    UnknownInstruction
        If there is no scope, or a modifier is unknown.
    """
    names = [name for name in instruction.modifiers if name != "sc"]
    if names == ["mbarrier_init", "release", "cluster"]:
        # Of what came before it orders the initialisations of mbarrier objects alone.
        names = names[1:]
    orders = [name for name in names if name in ("acquire", "release", "acq_rel")]
    scopes = [name for name in names if name not in orders]
    if len(scopes) != 1 or scopes[0] not in SCOPES or len(orders) > 1:
        raise UnknownInstruction.named(instruction)
    # ``fence`` without an order is ``fence.acq_rel``, ``membar`` is ``fence.sc``.
    is_sc = instruction.opcode == "membar" or "sc" in instruction.modifiers
    implied = MemoryOrder.IMPLIED if is_sc else MemoryOrder.ACQ_REL
    return SCOPES[scopes[0]], _ORDERS[orders[0]] if orders else implied
