"""Row outlet: a settled marker's row goes to all banks, then its warp goes on.

Ref: ScoRD (ISCA'20) Section IV-A (a warp waits until its fence is done).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.common.layout import struct_layout


class RowOutlet(wiring.Component):
    """Holds one row and one warp's clock.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_leaves : ``In(1)``
        Take what is there; only while ``o_is_free``.
    i_has_row, i_has_resume : ``In(1)``
        Whether there is a row, and a warp that goes on.
    i_row : ``In(row_write_layout)``, i_resume : ``In(resume_layout)``, i_sm : ``In(sm_bits)``
        What leaves, and the SM of the warp.
    o_row : ``Out(stream.Signature(row_write_layout)).array(banks)``
        Rows, the same ones in the same order for each bank.
    o_resume : ``Out(stream.Signature(resume_layout)).array(sm_count)``
        Clocks of warps, each behind its row at every bank.
    o_is_free : ``Out(1)``
        Nothing is held here.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        row, resume = struct_layout(params.row_write_layout), struct_layout(params.resume_layout)
        super().__init__({
            "i_leaves": In(1),
            "i_has_row": In(1),
            "i_has_resume": In(1),
            "i_row": In(row),
            "i_resume": In(resume),
            "i_sm": In(params.sm_bits),
            "o_row": Out(stream.Signature(row)).array(params.banks),
            "o_resume": Out(stream.Signature(resume)).array(params.sm_count),
            "o_is_free": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        row = Signal(self.i_row.shape(), name="row", reset_less=True)
        resume = Signal(self.i_resume.shape(), name="resume", reset_less=True)
        sm, taken = Signal.like(self.i_sm, name="sm"), Signal(len(self.o_row), name="taken")
        has_row, has_resume = Signal(name="has_row"), Signal(name="has_resume")
        has_taken = Cat(port.ready for port in self.o_row) | taken
        m.d.comb += self.o_is_free.eq(~has_row & ~has_resume)
        with m.If(self.i_leaves):
            m.d.sync += [
                has_row.eq(self.i_has_row), has_resume.eq(self.i_has_resume), row.eq(self.i_row),
                resume.eq(self.i_resume), sm.eq(self.i_sm), taken.eq(0),
            ]  # fmt: skip
        with m.Elif(has_row):
            m.d.sync += [taken.eq(has_taken), has_row.eq(~has_taken.all())]
        for number, port in enumerate(self.o_row):
            m.d.comb += [port.payload.eq(row), port.valid.eq(has_row & ~taken[number])]
        for number, port in enumerate(self.o_resume):
            m.d.comb += [
                port.payload.eq(resume), port.valid.eq(has_resume & ~has_row & (sm == number)),
            ]  # fmt: skip
            with m.If(port.valid & port.ready):
                m.d.sync += has_resume.eq(0)
        return m
