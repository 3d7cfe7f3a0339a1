"""Instruction set: every arithmetic instruction that the executor knows.

Ref: PTX ISA 9.0, Section 9.7.
"""

from __future__ import annotations

from racetrap.sim.gpu.executor.arithmetic.bits import BIT_INSTRUCTIONS
from racetrap.sim.gpu.executor.arithmetic.comparisons import COMPARE_INSTRUCTIONS
from racetrap.sim.gpu.executor.arithmetic.conversions import CONVERT_INSTRUCTIONS
from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.floats import FLOAT_INSTRUCTIONS
from racetrap.sim.gpu.executor.arithmetic.integers import INTEGER_INSTRUCTIONS
from racetrap.sim.gpu.executor.arithmetic.operations import Operation
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS
from racetrap.sim.gpu.ptx.module import Instruction

__all__ = ["ARITHMETIC_OPCODES", "arithmetic_operation"]

_BUILDERS = (
    BIT_INSTRUCTIONS | COMPARE_INSTRUCTIONS | CONVERT_INSTRUCTIONS | FLOAT_INSTRUCTIONS
    | INTEGER_INSTRUCTIONS
)  # fmt: skip

#: Opcodes of all of them.
ARITHMETIC_OPCODES = frozenset(opcode for opcode, _ in _BUILDERS)


def arithmetic_operation(instruction: Instruction) -> Operation:
    """Meaning of an arithmetic instruction.

    Raises
    ------
    UnknownInstruction
        If its opcode is not among ``ARITHMETIC_OPCODES``, or not in this form.
    """
    types = [SCALARS[name] for name in instruction.modifiers if name in SCALARS]
    builder = types and _BUILDERS.get((instruction.opcode, types[-1].kind))
    if not builder:
        raise UnknownInstruction.named(instruction)
    return builder(instruction, types[-1])
