"""Timestamps of a core unit: the running thread's, and the one it must reach.

Ref: SigRace (ISCA'09) Sections 3.1 and 3.3, Fig. 5(b) (TS and TRT).
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.params import WORD_BITS, SigraceParams

_INDEX_BITS = 12


class CounterFile(wiring.Component):
    """A timestamp that software writes counter by counter; ``i_clear`` wins over a write.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_write, i_index, i_data : ``In(1)``, ``In(12)``, ``In(timestamp_bits)``
        Write a counter; an index out of range is ignored.
    i_clear : ``In(1)``
        Set all counters to 0.
    o_timestamp : ``Out(timestamp_width)``
        All counters, number 0 lowest.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i_write": In(1),
            "i_index": In(_INDEX_BITS),
            "i_data": In(params.timestamp_bits),
            "i_clear": In(1),
            "o_timestamp": Out(params.timestamp_width),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        bits = self._params.timestamp_bits
        for thread in range(self._params.threads):
            with m.If(self.i_write & (self.i_index == thread)):
                m.d.sync += self.o_timestamp[thread * bits : (thread + 1) * bits].eq(self.i_data)
        with m.If(self.i_clear):
            m.d.sync += self.o_timestamp.eq(0)
        return m


class Timestamp(wiring.Component):
    """TS: the timestamp of the running thread.

    Counters saturate at ``max_counter``: timestamps that wrap could not be compared.
    ``o_saturated`` stays set from then on.  At most one of ``i_write``, ``i_increment`` and
    ``i_clear`` may be high; a change is visible in the next cycle.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_thread : ``In(thread_bits)``
        SigRaceID.
    i_write, i_index, i_data : ``In(1)``, ``In(12)``, ``In(32)``
        Write a counter (GenerateTS); an index out of range is ignored, as are bits of the data
        that a counter does not have.
    i_increment : ``In(1)``
        Increment the thread's own counter (sync_reached).
    i_clear : ``In(1)``
        Set all counters and ``o_saturated`` to 0.
    o_timestamp : ``Out(timestamp_width)``
        All counters, number 0 lowest.
    o_own : ``Out(timestamp_bits)``
        The thread's own counter.
    o_saturated : ``Out(1)``
        A counter has reached ``max_counter``.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i_thread": In(params.thread_bits),
            "i_write": In(1),
            "i_index": In(_INDEX_BITS),
            "i_data": In(WORD_BITS),
            "i_increment": In(1),
            "i_clear": In(1),
            "o_timestamp": Out(params.timestamp_width),
            "o_own": Out(params.timestamp_bits),
            "o_saturated": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        m.submodules.counters = counters = CounterFile(params)
        is_known = Signal()
        m.d.comb += [
            self.o_timestamp.eq(counters.o_timestamp),
            self.o_own.eq(counters.o_timestamp.word_select(self.i_thread, params.timestamp_bits)),
            is_known.eq(self.i_index < params.threads),
            counters.i_write.eq(self.i_write | self.i_increment),
            counters.i_index.eq(Mux(self.i_increment, self.i_thread, self.i_index)),
            counters.i_data.eq(
                Mux(
                    self.i_increment,
                    Mux(self.o_own == params.max_counter, self.o_own, self.o_own + 1),
                    self.i_data,
                )
            ),
            counters.i_clear.eq(self.i_clear),
        ]
        with m.If(self.i_clear):
            m.d.sync += self.o_saturated.eq(0)
        with m.Elif((self.i_increment | (self.i_write & is_known)) & counters.i_data.all()):
            m.d.sync += self.o_saturated.eq(1)
        return m
