"""Descriptor tap: from accesses to an engine's registers to its DMA and the syncs with it.

It holds a copy of the registers, which changes when a store arrives at the engine.  A copy read
when the instruction retires can be older than what the engine uses: stores may wait in a buffer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racetrap.golden_model.layout import Layout
from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.golden_model.noncoherent.taps.params import EngineRegisters
from racetrap.golden_model.trace.noncoherent.operations import OperationKind

#: Registers that the tap copies.
SHADOWED = ("source", "target", "length", "rows", "stride")
_ROWS_MASK = (1 << 16) - 1
#: An access to a register at the engine, in the cycle in which it takes effect.
ACCESS_LAYOUT = Layout({"valid": 1, "is_write": 1, "address": 32, "data": 32})


class RegisterAccess(NamedTuple):
    """An access to a register: ``data`` is what is written, or what the engine answers."""

    valid: int = 0
    is_write: int = 0
    address: int = 0
    data: int = 0


class DescriptorTap:
    """Copy of an engine's registers.

    Parameters
    ----------
    registers : EngineRegisters
        Their addresses.
    engine : int
        Number of the engine.

    Attributes
    ----------
    shadow : dict of str to int
        The copy by name, of those in ``SHADOWED`` that the engine has.
    """

    def __init__(self, registers: EngineRegisters, engine: int = 0) -> None:
        self._registers, self._engine = registers, engine
        self.shadow = {name: 0 for name in SHADOWED if getattr(registers, name) is not None}

    def step(self, access: RegisterAccess, tag: int = 0) -> Iterator[BusOperation]:
        """Operations that an access causes: a DMA read, then a DMA write; or a sync."""
        registers = self._registers
        if not access.valid:
            return
        if not access.is_write:
            is_done = access.data & registers.done_mask == registers.done_mask
            if access.address == registers.status and is_done:
                yield BusOperation(OperationKind.SYNC, self._engine, tag=tag)
            return
        for name in self.shadow:
            if access.address == getattr(registers, name):
                self.shadow[name] = access.data
        if access.address == registers.start:
            if access.data & registers.read_mask:
                yield self._dma(OperationKind.DMA_READ, "source", tag)
            if access.data & registers.write_mask:
                yield self._dma(OperationKind.DMA_WRITE, "target", tag)

    def _dma(self, kind: OperationKind, address: str, tag: int) -> BusOperation:
        shadow = self.shadow
        return BusOperation(
            kind, self._engine, shadow[address], shadow["length"],
            shadow.get("rows", 0) & _ROWS_MASK, shadow.get("stride", 0), tag,
        )  # fmt: skip
