"""Error of an instruction that the executor does not have."""

from __future__ import annotations

from typing import Self

from racetrap.sim.gpu.ptx.module import Instruction


class UnknownInstruction(ValueError):
    """An instruction, or a form of one, that the executor does not support."""

    @classmethod
    def named(cls, instruction: Instruction) -> Self:
        """The error of an instruction of which no form is supported."""
        return cls(f"Instruction {instruction.name} is not supported")
