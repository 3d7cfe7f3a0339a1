"""Modifiers of memory instructions: space, order, scope, vector and type.

Ref: PTX ISA 9.0, Sections 8 (memory consistency), 9.7.9 (ld, st) and 9.7.13 (atom, red, fences).
"""

from __future__ import annotations

from collections.abc import Iterable

from racetrap.golden_model.events import Scope
from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS, Scalar
from racetrap.sim.gpu.executor.machine.access import AccessMode
from racetrap.sim.gpu.ptx.module import Instruction

__all__ = ["access_mode", "fence_scope"]

_SCOPES = {
    "cta": Scope.BLOCK,
    "cluster": Scope.DEVICE,
    "gpu": Scope.DEVICE,
    "gl": Scope.DEVICE,
    "sys": Scope.DEVICE,
}
_SPACES = ("global", "shared", "local", "param", "const")
_STRONG = ("volatile", "relaxed", "acquire", "release", "acq_rel", "cv")
#: Hints about caches, which change nothing here.
_HINTS = ("ca", "cg", "cs", "lu", "wb", "wt", "nc", "weak", "noftz", "unified")
_HINT_STARTS = ("L1::", "L2::", "level::")
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}


def _without_hints(names: Iterable[str]) -> list[str]:
    return [name for name in names if name not in _HINTS and not name.startswith(_HINT_STARTS)]


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
        elif name in _SCOPES:
            scope = _SCOPES[name]
        elif atomic and name in operations:
            operation = name
        elif name in _VECTORS and not atomic:
            elements = _VECTORS[name]
        elif name in SCALARS:
            types.append(SCALARS[name])
        else:
            raise UnknownInstruction.named(instruction)
    if len(types) != 1 or (atomic and not operation):
        raise UnknownInstruction.named(instruction)
    strong = atomic or bool(order)
    return AccessMode(
        space=space,
        strong=strong,
        scope=(Scope.DEVICE if scope is None else scope) if strong else Scope.BLOCK,
        before=order in ("release", "acq_rel"),
        after=order in ("acquire", "acq_rel"),
        elements=elements,
        type=types[0],
        operation=operation,
    )


def fence_scope(instruction: Instruction) -> Scope:
    """Scope of ``membar`` or ``fence``; raises `UnknownInstruction` if there is none."""
    names = [name for name in instruction.modifiers if name not in ("sc", "acq_rel")]
    if len(names) != 1 or names[0] not in _SCOPES:
        raise UnknownInstruction.named(instruction)
    return _SCOPES[names[0]]
