"""What each arithmetic instruction computes: a function of whole rows, and its types.

The functions know nothing of warps: they take rows of values, one a lane, and return new ones,
without regard to which lanes are active.

Ref: PTX ISA 9.0, Section 9.7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from racetrap.sim.gpu.executor.errors import UnknownInstruction
from racetrap.sim.gpu.executor.scalars import SCALARS, Scalar
from racetrap.sim.gpu.ptx.program import Instruction

__all__ = ["Operation", "define", "find_operation", "known_opcodes", "only"]


class Operation(NamedTuple):
    """An instruction's meaning.

    Parameters
    ----------
    function : callable
        From the sources to the result, or to a tuple of results.
    results, sources : tuple of numpy.dtype
        Types of the destinations, and of the sources in order.
    """

    function: Callable[..., Any]
    results: tuple[np.dtype, ...]
    sources: tuple[np.dtype, ...]


#: From an instruction and its last type to its meaning.
Builder = Callable[[Instruction, Scalar], Operation]

_BUILDERS: dict[tuple[str, str], Builder] = {}


def define(kinds: str, *opcodes: str) -> Callable[[Builder], Builder]:
    """Register a builder for opcodes whose last type is of one of ``kinds``."""

    def register(builder: Builder) -> Builder:
        _BUILDERS.update({(opcode, kind): builder for opcode in opcodes for kind in kinds})
        return builder

    return register


def only(instruction: Instruction, *allowed: str) -> tuple[str, ...]:
    """The modifiers that are no types; raises `UnknownInstruction` if one is not allowed."""
    flags = tuple(name for name in instruction.modifiers if name not in SCALARS)
    if any(flag not in allowed for flag in flags):
        raise UnknownInstruction(
            f"Instruction must be one that the executor knows, not {instruction.name}"
        )
    return flags


def known_opcodes() -> frozenset[str]:
    """Opcodes of all instructions defined so far."""
    return frozenset(opcode for opcode, _ in _BUILDERS)


def find_operation(instruction: Instruction) -> Operation | None:
    """Meaning of an arithmetic instruction; ``None`` if its opcode is of another sort.

    Raises
    ------
    UnknownInstruction
        If the opcode is known, but not in this form.
    """
    types = [SCALARS[name] for name in instruction.modifiers if name in SCALARS]
    builder = types and _BUILDERS.get((instruction.opcode, types[-1].kind))
    if builder:
        return builder(instruction, types[-1])
    if instruction.opcode in known_opcodes():
        only(instruction)
        raise UnknownInstruction(
            f"Instruction must be one that the executor knows, not {instruction.name}"
        )
    return None
