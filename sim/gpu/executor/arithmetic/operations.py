"""Arithmetic instructions: for each a function of whole rows, and its types.

The functions are independent of warps: they take rows of values, one a lane, and return new ones,
without regard to which lanes are active.

Ref: PTX ISA 9.0, Section 9.7.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS, Scalar
from racetrap.sim.gpu.ptx.module import Instruction

#: Stands for the type of the instruction: the last that its name has.
OWN = None


class Operation(NamedTuple):
    """Meaning of an instruction.

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


class InstructionTable(dict[tuple[str, str], Builder]):
    """Builders by opcode and kind of the instruction's last type."""

    def define(self, kinds: str, *opcodes: str) -> Callable[[Builder], Builder]:
        """Decorate the builder of opcodes whose last type is of one of ``kinds``."""

        def register(builder: Builder) -> Builder:
            self.update({(opcode, kind): builder for opcode in opcodes for kind in kinds})
            return builder

        return register

    def plain(
        self, kinds: str, opcode: str, function: Callable[..., np.ndarray],
        *sources: np.dtype | None, result: np.dtype | None = OWN,
    ) -> None:  # fmt: skip
        """Define an opcode without modifiers by a function and its types."""

        def build(instruction: Instruction, last: Scalar) -> Operation:
            only(instruction)
            first, *others = (last.dtype if t is OWN else t for t in (result, *sources))
            return Operation(function, (first,), tuple(others))

        self.define(kinds, opcode)(build)


def only(instruction: Instruction, *allowed: str) -> tuple[str, ...]:
    """The modifiers that are no types; raises `UnknownInstruction` if one is not allowed."""
    flags = tuple(name for name in instruction.modifiers if name not in SCALARS)
    if any(flag not in allowed for flag in flags):
        raise UnknownInstruction.named(instruction)
    return flags
