"""Write-back of checked entries to memory in order, and of their slots to the window."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.gpu.entry_writer import entry_write
from racetrap.rtl.gpu.hazard_window import slot_bits


class WriteBack(wiring.Component):
    """Follows the checked slots: writes those whose entry changed, and retires all in order.

    A changed entry's slot retires when its write has been answered, any other as soon as all slots
    before it have retired.  Throughput is one slot a cycle.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i_checked : ``In(stream.Signature(1, always_ready=True))``
        The next slot has been checked, and whether its entry must be written.
    o_read : ``Out(stream.Signature(slot_bits, always_ready=True))``
        Slot whose result is read; the result must be valid from the next cycle until the next read.
    i_result : ``In(entry_write(params))``
        The result read.
    o : ``Out(stream.Signature(entry_write(params)))``
        Entries to write.
    i_done : ``In(1)``
        Pulse: the oldest unanswered write has been answered.
    o_retire : ``Out(1)``
        Pulse: the oldest slot is free again.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        super().__init__({
            "i_checked": In(stream.Signature(1, always_ready=True)),
            "o_read": Out(stream.Signature(slot_bits(params), always_ready=True)),
            "i_result": In(entry_write(params)),
            "o": Out(stream.Signature(entry_write(params))),
            "i_done": In(1),
            "o_retire": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        bits = slot_bits(self._params)
        checked, passed, retired = (
            Signal(bits + 1, name=name) for name in ("checked", "passed", "retired")
        )
        m.submodules.changed = changed = Memory(shape=1, depth=self._params.outstanding, init=[])
        write = changed.write_port()
        passing, retiring = changed.read_port(domain="comb"), changed.read_port(domain="comb")
        answers = Signal(bits + 1)
        result_waits = Signal()
        slot_changed, oldest_changed, skip = (
            Signal(name=name) for name in ("slot_changed", "oldest_changed", "skip")
        )
        m.d.comb += [
            write.en.eq(self.i_checked.valid),
            write.addr.eq(checked),
            write.data.eq(self.i_checked.payload),
            passing.addr.eq(passed),
            slot_changed.eq(passing.data),
            retiring.addr.eq(retired),
            oldest_changed.eq(retiring.data),
            self.o_read.payload.eq(passed),
            self.o_read.valid.eq(
                (passed != checked) & slot_changed & (~result_waits | self.o.ready)
            ),
            skip.eq((passed != checked) & ~slot_changed),
            self.o.valid.eq(result_waits),
            self.o.p.eq(self.i_result),
            self.o_retire.eq((retired != passed) & (~oldest_changed | (answers != 0))),
        ]
        with m.If(self.o_read.valid):
            m.d.sync += result_waits.eq(1)
        with m.Elif(self.o.ready):
            m.d.sync += result_waits.eq(0)
        m.d.sync += [
            checked.eq(checked + self.i_checked.valid),
            passed.eq(passed + (self.o_read.valid | skip)),
            retired.eq(retired + self.o_retire),
            answers.eq(answers + self.i_done - (self.o_retire & oldest_changed)),
        ]
        return m
