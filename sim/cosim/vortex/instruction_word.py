"""The kernel's code as judge of what is seen at a core: each instruction must be that in memory.

It decodes RISC-V by itself: that the golden model reads the right bits of the core is thus checked
by something that shares nothing with it.

Ref: RISC-V Unprivileged ISA 20191213, Section 2.6; Vortex 3.0, VX_decode.
"""

from __future__ import annotations

from typing import NamedTuple

from racetrap.golden_model.vortex.issue_decoder import ISSUE_LAYOUT
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.vortex.kernel_image import KernelImage

_LOAD, _STORE, _FENCE, _GPU = 0x03, 0x23, 0x0F, 0x0B
_MEMORY_UNIT, _SPECIAL_UNIT = 1, 2
#: Operation and flags (waits, arrives) of Vortex's own instructions, by funct3.
_SPECIAL = {0: (0, None), 1: (1, None), 2: (2, None), 3: (3, None), 4: (4, 0b10), 5: (5, None),
            7: (10, None)}  # fmt: skip
#: Operations of the special unit that only these instructions have.
_OWN = {*range(6), 10}


class _Due(NamedTuple):
    """Unit, operation, and bits of the offset that must be seen, with those that matter."""

    unit: int
    operation: int
    offset: int = 0
    mask: int = 0


def check_word(kernel: KernelImage, word: int) -> None:
    """Raise ``Mismatch`` unless a packed word is of the instruction at its program counter."""
    fields = ISSUE_LAYOUT.unpack(word)
    pc = fields["pc"]
    due = _due(kernel.instruction(pc))
    seen = _Due(fields["unit"], fields["operation"], fields["offset"])
    if due is None:
        is_own = seen.unit == _SPECIAL_UNIT and seen.operation in _OWN
        if is_own or seen.unit == _MEMORY_UNIT:
            raise Mismatch(f"Instruction at {pc:#x} must be no access and no {seen}")
        return
    if seen != due._replace(offset=seen.offset & ~due.mask | due.offset, mask=0):
        raise Mismatch(f"Instruction at {pc:#x} must be seen as {due}, not {seen}")


def _due(instruction: int) -> _Due | None:
    opcode, kind = instruction & 0x7F, instruction >> 12 & 7
    if opcode == _LOAD:
        return _Due(_MEMORY_UNIT, kind, instruction >> 20, 0xFFF)
    if opcode == _STORE:
        offset = instruction >> 25 << 5 | instruction >> 7 & 0x1F
        return _Due(_MEMORY_UNIT, 8 + kind, offset, 0xFFF)
    if opcode == _FENCE and not kind:
        return _Due(_MEMORY_UNIT, 15)
    if opcode != _GPU or instruction >> 25:
        return None
    if kind == 6:
        return _Due(_SPECIAL_UNIT, 4, int(instruction >> 7 & 0x1F != 0), 0b11)
    operation, flags = _SPECIAL[kind]
    return _Due(_SPECIAL_UNIT, operation, flags or 0, 0b11 if flags else 0)
