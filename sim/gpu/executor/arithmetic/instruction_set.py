"""Instruction set: every arithmetic instruction that the executor supports.

Ref: PTX ISA 9.0, Section 9.7.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from racetrap.sim.gpu.executor.arithmetic.bits import BIT_INSTRUCTIONS
from racetrap.sim.gpu.executor.arithmetic.comparisons import COMPARE_INSTRUCTIONS
from racetrap.sim.gpu.executor.arithmetic.conversions import CONVERT_INSTRUCTIONS
from racetrap.sim.gpu.executor.arithmetic.errors import UnknownInstruction
from racetrap.sim.gpu.executor.arithmetic.floats import FLOAT_INSTRUCTIONS
from racetrap.sim.gpu.executor.arithmetic.integers import INTEGER_INSTRUCTIONS
from racetrap.sim.gpu.executor.arithmetic.operations import Operation
from racetrap.sim.gpu.executor.arithmetic.scalars import SCALARS
from racetrap.sim.gpu.ptx.module import Instruction

_HALF, _PAIR = np.dtype("f2"), np.dtype("u4")

_BUILDERS = (
    BIT_INSTRUCTIONS | COMPARE_INSTRUCTIONS | CONVERT_INSTRUCTIONS | FLOAT_INSTRUCTIONS
    | INTEGER_INSTRUCTIONS
)  # fmt: skip

#: Opcodes of all of them.
ARITHMETIC_OPCODES = frozenset(opcode for opcode, _ in _BUILDERS)

#: Kinds of the types that each takes.
ARITHMETIC_KINDS = {
    opcode: frozenset(kind for other, kind in _BUILDERS if other == opcode)
    for opcode in ARITHMETIC_OPCODES
}


def _of_pairs(instruction: Instruction) -> Operation:
    """The operation on f16 for both halves of 32-bit words (``.f16x2``)."""
    modifiers = tuple("f16" if name == "f16x2" else name for name in instruction.modifiers)
    function, results, sources = arithmetic_operation(replace(instruction, modifiers=modifiers))
    if {*results, *sources} != {_HALF}:
        raise UnknownInstruction.named(instruction)

    def both(*rows: np.ndarray) -> np.ndarray:
        pairs = function(*(np.ascontiguousarray(row).view(_HALF) for row in rows))
        return np.asarray(pairs, _HALF).view(_PAIR)

    return Operation(both, (_PAIR,), (_PAIR,) * len(sources))


def arithmetic_operation(instruction: Instruction) -> Operation:
    """Meaning of an arithmetic instruction.

    Raises
    ------
    UnknownInstruction
        If its opcode is not among ``ARITHMETIC_OPCODES``, or not in this form.
    """
    if "f16x2" in instruction.modifiers:
        return _of_pairs(instruction)
    types = [SCALARS[name] for name in instruction.modifiers if name in SCALARS]
    builder = types and _BUILDERS.get((instruction.opcode, types[-1].kind))
    if not builder:
        raise UnknownInstruction.named(instruction)
    return builder(instruction, types[-1])
