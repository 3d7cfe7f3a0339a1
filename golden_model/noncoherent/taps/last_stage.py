"""Last stage: what a core without RVFI would show there, from the last stage of its pipeline.

Ref: RISC-V Formal Interface (riscv-formal, docs/rvfi.md).
"""

from __future__ import annotations

from typing import NamedTuple

from racetrap.golden_model.layout import Layout
from racetrap.golden_model.noncoherent.taps.rvfi_tap import LOAD, Retired

#: Opcode of stores.
STORE = 0x23
_MASK = (1 << 32) - 1
#: An instruction in the cycle in which it leaves the last stage.
STAGE_LAYOUT = Layout({"insn": 32, "pc": 32, "address": 32})


class LastStage(NamedTuple):
    """An instruction, its address, and the address of the first byte that it loads or stores."""

    insn: int = 0
    pc: int = 0
    address: int = 0


def retired_of(stage: LastStage) -> Retired:
    """An instruction as RVFI shows it.

    Only loads and stores of RV32I access memory; the core must refuse others.  ``rs1_rdata`` is
    right for loads, which are all that the RVFI tap uses it for, besides maintenance of a line.

    Parameters
    ----------
    stage : LastStage
        The instruction, which does not trap.
    """
    insn, address = stage.insn, stage.address
    opcode, size = insn & 0x7F, insn >> 12 & 3
    mask = ((1 << (1 << size)) - 1) << (address & 3) & 0xF
    offset = (insn >> 20) - (insn >> 31 << 12)
    return Retired(
        insn=insn, rs1_rdata=address - offset & _MASK, pc_rdata=stage.pc, mem_addr=address & ~3,
        mem_rmask=mask if opcode == LOAD else 0, mem_wmask=mask if opcode == STORE else 0,
    )  # fmt: skip
