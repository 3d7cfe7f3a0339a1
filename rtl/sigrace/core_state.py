"""State of a core unit besides its sets: flags, Committed Instruction Counter, timestamps.

Ref: SigRace (ISCA'09) Section 4.1, Fig. 5(b), Table 1.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.packets import CoreOp
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.rtl.sigrace.layouts import item_layout
from racetrap.rtl.sigrace.timestamp import CounterFile, Timestamp

#: Ops of which the block can reach its limit; undefined ones count as INSTRUCTIONS.
_CONTROL_OPS = [op for op in CoreOp if op > CoreOp.INSTRUCTIONS]


class CoreState(wiring.Component):
    """Updates the registers by events; a change is visible in the next cycle.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_item : ``In(item_layout(params))``
        A granule or an event.
    i_step : ``In(1)``
        It takes effect in this cycle.
    i_ends : ``In(1)``
        The block ends before it: counting restarts.
    o_reaches_limit : ``Out(1)``
        The item completes its event, and the event its block (depends on ``i_item`` and
        ``i_ends``).
    o_collecting : ``Out(1)``
        Addresses are collected, and instructions counted.
    o_counter : ``Out(counter_bits)``
        Committed Instruction Counter.
    o_thread, o_own : ``Out(thread_bits)``, ``Out(timestamp_bits)``
        SigRaceID, and the thread's own counter of its timestamp.
    o_timestamp, o_trt : ``Out(timestamp_width)``
        The thread's timestamp (TS), and the one it must reach (TRT).
    o_mode, o_conflicting : ``Out(2)``, ``Out(1)``
        ``Mode`` (OM), and the CT flag.
    o_saturated : ``Out(1)``
        A counter of the timestamp has reached ``max_counter``.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i_item": In(item_layout(params)),
            "i_step": In(1),
            "i_ends": In(1),
            "o_reaches_limit": Out(1),
            "o_collecting": Out(1),
            "o_counter": Out(params.counter_bits),
            "o_thread": Out(params.thread_bits),
            "o_own": Out(params.timestamp_bits),
            "o_timestamp": Out(params.timestamp_width),
            "o_trt": Out(params.timestamp_width),
            "o_mode": Out(2),
            "o_conflicting": Out(1),
            "o_saturated": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        event = self.i_item.event
        self._elaborate_instruction_counter(m)
        self._elaborate_timestamps(m)
        with m.If(self.i_step):
            with m.Switch(event.op):
                with m.Case(CoreOp.COLLECT_ON):
                    m.d.sync += self.o_collecting.eq(1)
                with m.Case(CoreOp.COLLECT_OFF):
                    m.d.sync += self.o_collecting.eq(0)
                with m.Case(CoreOp.SWITCH_IN):
                    with m.If(event.index < self._params.threads):
                        m.d.sync += self.o_thread.eq(event.index)
                with m.Case(CoreOp.MODE):
                    m.d.sync += [self.o_mode.eq(event.data), self.o_conflicting.eq(event.data[2])]
                with m.Case(CoreOp.RESET):
                    m.d.sync += [
                        self.o_collecting.eq(0),
                        self.o_thread.eq(0),
                        self.o_mode.eq(0),
                        self.o_conflicting.eq(0),
                    ]
        return m

    def _elaborate_instruction_counter(self, m: Module):
        """Count the instructions of an event with its first item; check the sum at its last."""
        event = self.i_item.event
        most = (1 << self._params.counter_bits) - 1
        total = Signal(self._params.counter_bits + 1)
        counted = self.i_item.is_first & self.o_collecting
        has_limit = Value.cast(~event.op.matches(*_CONTROL_OPS))
        m.d.comb += [
            total.eq(self.o_counter + Mux(counted, event.instructions, 0)),
            self.o_reaches_limit.eq(
                self.o_collecting
                & self.i_item.is_last
                & has_limit
                & ~self.i_ends
                & (total >= self._params.block_instructions)
            ),
        ]
        with m.If(self.i_step):
            m.d.sync += self.o_counter.eq(Mux(total > most, most, total))
            with m.If(self.i_ends | self.o_reaches_limit | (event.op == CoreOp.RESET)):
                m.d.sync += self.o_counter.eq(0)

    def _elaborate_timestamps(self, m: Module):
        event, step = self.i_item.event, self.i_step
        m.submodules.timestamp = timestamp = Timestamp(self._params)
        m.submodules.trt = trt = CounterFile(self._params)
        is_reset = step & (event.op == CoreOp.RESET)
        m.d.comb += [
            timestamp.i_thread.eq(self.o_thread),
            timestamp.i_write.eq(step & (event.op == CoreOp.TS_WRITE)),
            timestamp.i_index.eq(event.index),
            timestamp.i_data.eq(event.data),
            timestamp.i_increment.eq(step & (event.op == CoreOp.SYNC_REACHED)),
            timestamp.i_clear.eq(is_reset),
            trt.i_write.eq(step & (event.op == CoreOp.TRT_WRITE)),
            trt.i_index.eq(event.index),
            trt.i_data.eq(event.data),
            trt.i_clear.eq(is_reset),
            self.o_timestamp.eq(timestamp.o_timestamp),
            self.o_own.eq(timestamp.o_own),
            self.o_saturated.eq(timestamp.o_saturated),
            self.o_trt.eq(trt.o_timestamp),
        ]
