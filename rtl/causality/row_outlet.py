"""Row outlet: a settled marker's row goes to all banks, then its warp goes on.

Ref: ScoRD (ISCA'20) Section IV-A (a warp waits until its fence is done).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.common.layout import struct_layout


class RowOutlet(wiring.Component):
    """Holds one row and one warp's clock, or news for all SMs.

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
    i_is_for_all : ``In(1)``
        All SMs get the resume, not that one alone.
    i_arrives : ``In(banks)``
        Pulse for each bank: the row is in force there.
    o_row : ``Out(stream.Signature(row_write_layout)).array(banks)``
        Rows, the same ones in the same order for each bank.
    o_resume : ``Out(stream.Signature(resume_layout)).array(sm_count)``
        Clocks of warps, each when its row is in force at every bank.
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
            "i_is_for_all": In(1),
            "i_arrives": In(params.banks),
            "o_row": Out(stream.Signature(row)).array(params.banks),
            "o_resume": Out(stream.Signature(resume)).array(params.sm_count),
            "o_is_free": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        row = Signal(self.i_row.shape(), name="row", reset_less=True)
        resume = Signal(self.i_resume.shape(), name="resume", reset_less=True)
        banks, sms = len(self.o_row), len(self.o_resume)
        has_row, due = Signal(name="has_row"), Signal(sms, name="due")
        taken, arrived = Signal(banks, name="taken"), Signal(banks, name="arrived")
        has_arrived, given = arrived | self.i_arrives, Signal(sms, name="given")
        m.d.comb += self.o_is_free.eq(~has_row & ~due.any())
        with m.If(self.i_leaves):
            told = Mux(self.i_is_for_all, (1 << sms) - 1, 1 << self.i_sm)
            m.d.sync += [
                has_row.eq(self.i_has_row), row.eq(self.i_row), resume.eq(self.i_resume),
                due.eq(told & self.i_has_resume.replicate(sms)), taken.eq(0), arrived.eq(0),
            ]  # fmt: skip
        with m.Elif(has_row):
            m.d.sync += [
                taken.eq(taken | Cat(port.ready for port in self.o_row)),
                arrived.eq(has_arrived), has_row.eq(~has_arrived.all()),
            ]  # fmt: skip
        with m.Else():
            m.d.sync += due.eq(due & ~given)
        for number, port in enumerate(self.o_row):
            m.d.comb += [port.payload.eq(row), port.valid.eq(has_row & ~taken[number])]
        for number, port in enumerate(self.o_resume):
            m.d.comb += [
                port.payload.eq(resume), port.valid.eq(due[number] & ~has_row),
                given[number].eq(port.ready),
            ]  # fmt: skip
        return m
