"""Error of an instruction that the executor does not have."""

from __future__ import annotations

from typing import Self

from racetrap.sim.gpu.ptx.module import Instruction

#: What programmers call that which an opcode belongs to.
_FAMILIES = {
    **dict.fromkeys(("tex", "tld4", "txq", "istypep"), "textures"),
    **dict.fromkeys(("suld", "sust", "sured", "suq"), "surfaces"),
    "griddepcontrol": "programmatic dependent launch",
}


class UnknownInstruction(ValueError):
    """An instruction, or a form of one, that the executor does not support."""

    @classmethod
    def named(cls, instruction: Instruction) -> Self:
        """The error of an instruction of which no form is supported."""
        family = _FAMILIES.get(instruction.opcode)
        what = f"Instruction {instruction.name}{f' ({family})' if family else ''}"
        return cls(f"{what} is not supported")
