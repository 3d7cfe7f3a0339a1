"""Row splitter: from operations on strided ranges to their rows.

Ref: Young (UBC 2020) Section 5.1 (two-dimensional DMA).
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import RANGE_KINDS
from racetrap.rtl.common.layout import struct_layout


class RowSplitter(wiring.Component):
    """Outputs the rows of an operation in ascending order; all bytes if it has no range.

    The first row follows one cycle after its operation; then comes one each cycle, also across
    operations.  A range of size 0 has no row; such an operation takes a cycle.  ``i.ready`` does
    not depend on ``i.valid``.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(operation_layout))``
        Operations; their ranges end at the last address or before.
    o : ``Out(stream.Signature(row_layout))``
        Rows.
    o_empty : ``Out(1)``
        Pulse: an operation on no bytes has been taken.
    """

    def __init__(self, params: NoncoherentParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(struct_layout(params.operation_layout))),
            "o": Out(stream.Signature(struct_layout(params.row_layout))),
            "o_empty": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        operation = Signal(struct_layout(params.operation_layout))
        has_range = Signal()
        row = self.o.payload
        end = (operation.address + operation.size)[: params.end_bits]
        m.d.comb += [
            has_range.eq(operation.kind.matches(*RANGE_KINDS)),
            row.kind.eq(operation.kind),
            row.engine.eq(operation.engine),
            row.tag.eq(operation.tag),
            row.first.eq(Mux(has_range, operation.address, 0)),
            row.end.eq(Mux(has_range, end, 1 << params.address_bits)),
        ]
        is_last = ~has_range | (operation.rows <= 1)
        is_empty = self.i.payload.kind.matches(*RANGE_KINDS) & (self.i.payload.size == 0)
        m.d.comb += [
            self.i.ready.eq(~self.o.valid | (self.o.ready & is_last)),
            self.o_empty.eq(self.i.valid & self.i.ready & is_empty),
        ]
        with m.If(self.i.ready):
            m.d.sync += self.o.valid.eq(self.i.valid & ~is_empty)
            with m.If(self.i.valid):
                m.d.sync += operation.eq(self.i.payload)
        with m.Elif(self.o.ready):
            m.d.sync += [
                operation.address.eq(operation.address + operation.stride),
                operation.rows.eq(operation.rows - 1),
            ]
        return m
