"""RVFI tap: from the instructions that a RISC-V core retires to operations.

Ref: RISC-V Formal Interface (riscv-formal, docs/rvfi.md); RISC-V CMO Extensions 1.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from racetrap.golden_model.layout import Layout
from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.golden_model.noncoherent.taps.address_map import Place, Window, place_of
from racetrap.golden_model.noncoherent.taps.params import Attribute, TapParams
from racetrap.golden_model.trace.noncoherent.operations import RANGE_KINDS, OperationKind

_K = OperationKind
#: Opcodes of loads, and of atomic memory operations.
LOAD, LOAD_FP, AMO = 0x03, 0x07, 0x2F
_WORD_BYTES = 4
_MASK = (1 << 32) - 1
#: Signals of RVFI that the tap uses, without their prefix.
RETIRED_LAYOUT = Layout({
    "trap": 1, "insn": 32, "rs1_rdata": 32, "pc_rdata": 32, "mem_addr": 32, "mem_rmask": 4,
    "mem_wmask": 4,
})  # fmt: skip


class Retired(NamedTuple):
    """An instruction that a core of 32 bits retires; fields as in RVFI."""

    trap: int = 0
    insn: int = 0
    rs1_rdata: int = 0
    pc_rdata: int = 0
    mem_addr: int = 0
    mem_rmask: int = 0
    mem_wmask: int = 0


def operations_of(
    params: TapParams, retired: Retired, windows: Sequence[Window] = (), tag: int = 0
) -> Iterator[BusOperation]:
    """Operations of an instruction: maintenance, or a read and then a write.

    A load of a whole instruction has the address ``rs1`` plus offset and the size of its opcode:
    some cores give the mask of the whole word.  An instruction that is neither a load nor atomic
    reads nothing, whatever its mask: some cores leave there what an earlier one has read.

    Parameters
    ----------
    params : TapParams
        The system.
    retired : Retired
        The instruction; one that traps has no operations.
    windows : sequence of Window
        Memory that software has made uncached.
    tag : int
        Tag of the operations, if it is not 0; otherwise it is the PC.
    """
    if retired.trap:
        return
    tag = tag or retired.pc_rdata
    for word in params.maintenance:
        if retired.insn & word.mask == word.match:
            yield _maintenance(params, word.kind, retired.rs1_rdata, tag)
            return
    for first, size, kinds in (
        (*_read_range(retired), (_K.CACHED_READ, _K.UNCACHED_READ)),
        (*_masked_range(retired, retired.mem_wmask), (_K.CACHED_WRITE, _K.UNCACHED_WRITE)),
    ):
        attribute, memory = place_of(params, first, windows)
        if size and attribute is not Attribute.IGNORED:
            yield BusOperation(kinds[attribute], 0, memory, size, 0, 0, tag)


def _maintenance(params: TapParams, kind: OperationKind, address: int, tag: int) -> BusOperation:
    if kind not in RANGE_KINDS:
        return BusOperation(kind, tag=tag)
    place: Place = place_of(params, address)
    return BusOperation(kind, 0, place.address, 1, 0, 0, tag)


def _read_range(retired: Retired) -> tuple[int, int]:
    """First byte and size of what an instruction reads."""
    insn = retired.insn
    opcode, is_compressed = insn & 0x7F, insn & 3 != 3
    if opcode == LOAD and retired.mem_rmask:
        offset = (insn >> 20) - (insn >> 31 << 12)
        return (retired.rs1_rdata + offset) & _MASK, 1 << (insn >> 12 & 3)
    if is_compressed or opcode in (LOAD_FP, AMO):
        return _masked_range(retired, retired.mem_rmask)
    return 0, 0


def _masked_range(retired: Retired, mask: int) -> tuple[int, int]:
    """First byte of a mask without gaps, and its size."""
    lowest = (mask & -mask).bit_length() - 1
    return (retired.mem_addr & -_WORD_BYTES) + max(lowest, 0), mask.bit_count()
