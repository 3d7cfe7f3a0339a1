"""Descriptor tap: from accesses to an engine's registers to its DMA and the syncs with it.

Ref: ``golden_model/noncoherent/taps/descriptor_tap.py`` (the same operations).
"""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.noncoherent.taps.descriptor_tap import ACCESS_LAYOUT, SHADOWED
from racetrap.golden_model.noncoherent.taps.params import EngineRegisters
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.noncoherent.taps.layouts import lane_layout

_K = OperationKind


class DescriptorTap(wiring.Component):
    """Operations of the access in the cycle before; one access a cycle.

    Parameters
    ----------
    params : NoncoherentParams
        The monitor.
    registers : EngineRegisters
        Addresses of the engine's registers.
    engine : int
        Its number.

    Members
    -------
    i_access : ``In(ACCESS_LAYOUT)``
        An access to a register, in the cycle in which it takes effect at the engine.
    i_tag : ``In(32)``
        Tag of its operations.
    o_lanes : ``Out(lane_layout) x 2``
        DMA read or sync, and DMA write; registers.
    """

    def __init__(self, params: NoncoherentParams, registers: EngineRegisters, engine: int = 0):
        self._registers, self._engine = registers, engine
        super().__init__({
            "i_access": In(struct_layout(ACCESS_LAYOUT)),
            "i_tag": In(32),
            "o_lanes": Out(data.ArrayLayout(lane_layout(params), 2)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        registers, access = self._registers, self.i_access
        writes, reads = Signal(), Signal()
        m.d.comb += [
            writes.eq(access.valid & access.is_write),
            reads.eq(access.valid & ~access.is_write),
        ]
        shadow = self._shadow(m, writes)
        starts = writes & (access.address == registers.start)
        for lane, kind, name, mask in (
            (self.o_lanes[0], _K.DMA_READ, "source", registers.read_mask),
            (self.o_lanes[1], _K.DMA_WRITE, "target", registers.write_mask),
        ):
            m.d.sync += lane.eq(0)
            if not mask:
                continue
            operation = lane.operation
            m.d.sync += [
                lane.valid.eq(starts & (access.data & mask).any()),
                operation.kind.eq(kind),
                operation.engine.eq(self._engine),
                operation.address.eq(shadow[name]),
                operation.tag.eq(self.i_tag),
            ]
            for field, register in (("size", "length"), ("rows", "rows"), ("stride", "stride")):
                if register in shadow:
                    m.d.sync += operation[field].eq(shadow[register])
        is_done = (access.data & registers.done_mask) == registers.done_mask
        with m.If(reads & (access.address == registers.status) & is_done):
            lane = self.o_lanes[0]
            m.d.sync += [
                lane.eq(0), lane.valid.eq(1), lane.operation.kind.eq(_K.SYNC),
                lane.operation.engine.eq(self._engine), lane.operation.tag.eq(self.i_tag),
            ]  # fmt: skip
        return m

    def _shadow(self, m: Module, writes: Value) -> dict[str, Value]:
        """Registers as they are after the access, by name."""
        access, after = self.i_access, {}
        for name in SHADOWED:
            place = getattr(self._registers, name)
            if place is not None:
                held, now = Signal(32, name=name), Signal(32, name=f"{name}_now")
                m.d.comb += now.eq(held)
                with m.If(writes & (access.address == place)):
                    m.d.comb += now.eq(access.data)
                m.d.sync += held.eq(now)
                after[name] = now
        return after
