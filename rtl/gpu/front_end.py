"""Front end: from the issue stream of an SM's load/store unit to the detector's transactions.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import Out

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.ports import ports_like
from racetrap.rtl.common.stream import StreamRegister, assign_stream
from racetrap.rtl.gpu.barrier_counter import BarrierCounter
from racetrap.rtl.gpu.outcome_hold import OutcomeHold
from racetrap.rtl.gpu.transaction_splitter import TransactionSplitter


class FrontEnd(wiring.Component):
    """Outcome hold, barrier counter, and the detector's own coalescer.

    Transactions of an instruction leave together, in the order of issue; those of a CAS when its
    outcome has been taken, before those of all that its warp issues behind it.  Each stream may
    wait as long as it likes, and no ``ready`` depends on a ``valid``.  A fence is a transaction two
    cycles after it was taken.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    coalescer : type of TransactionSplitter
        The detector's.

    Members
    -------
    i_instruction : ``In(stream.Signature(instruction_layout))``
        What the load/store unit issues, and the block scheduler.
    i_outcome : ``In(stream.Signature(outcome_layout))``
        Outcome of each CAS.
    o_transaction : ``Out(stream.Signature(transaction_layout))``
        Transactions for the tracker.
    o_held : ``Out(warps_per_sm)``
        Warps of which something that was taken, and is no CAS without an outcome, has not left: an
        access may be performed, and the result of a CAS be used, when the bit is low.
    o_idle : ``Out(1)``
        Everything that was taken has left.
    """

    def __init__(self, params: GpuParams, coalescer: type[TransactionSplitter]):
        self._params, self._coalescer = params, coalescer
        self._hold = OutcomeHold(params)
        super().__init__({
            **ports_like(self._hold, "i_instruction", "i_outcome"),
            "o_transaction": Out(stream.Signature(struct_layout(params.transaction_layout))),
            "o_held": Out(self._params.warps_per_sm),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.outcome_hold = hold = self._hold
        m.submodules.barrier_counter = counter = BarrierCounter(self._params)
        m.submodules.coalescer = coalescer = self._coalescer(self._params)
        output_layout = data.StructLayout({
            "transaction": coalescer.o.payload.shape(), "warp": self._params.warp_bits,
        })  # fmt: skip
        m.submodules.output = output = StreamRegister(output_layout)
        wiring.connect(m, wiring.flipped(self.i_instruction), hold.i_instruction)
        wiring.connect(m, wiring.flipped(self.i_outcome), hold.i_outcome)
        wiring.connect(m, hold.o, counter.i)
        wiring.connect(m, counter.o, coalescer.i)
        assign_stream(m, output.i, coalescer.o, Cat(coalescer.o.payload, coalescer.o_warp))
        assign_stream(m, self.o_transaction, output.o, output.o.payload.transaction)
        in_flight = [
            (hold.o_answered, hold.o_warp), (~coalescer.o_idle, coalescer.o_warp),
            (output.o.valid, output.o.payload.warp),
        ]  # fmt: skip
        m.d.comb += [
            self.o_held.eq(reduce(or_, [Mux(held, 1 << warp, 0) for held, warp in in_flight])),
            self.o_idle.eq(hold.o_idle & coalescer.o_idle & ~output.o.valid),
        ]
        return m
