"""States of an SM's warps in its tracker, and the first clock of a block that takes some of them.

Ref: ScoRD (ISCA'20) Section VI (release counters).
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.params import CausalityParams


def state_layout(params: CausalityParams) -> data.StructLayout:
    """What a tracker holds of a warp: what its packets tell banks of it."""
    names = ("clock", "released", "released_device", "sc")
    return data.StructLayout({name: params.packet_layout.fields[name] for name in names})


class WarpStates(wiring.Component):
    """State of each warp slot, one of them looked up and written at a time.

    ``o_state`` is combinational in ``i_warp``; what is written shows in the next cycle.  To clear
    them or begin an epoch takes a cycle for each warp.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_warp : ``In(warp_bits)``
        Warp slot.
    o_state : ``Out(state_layout(params))``
        Its state.
    i_write : ``In(1)``, i_state : ``In(state_layout(params))``
        Replace it by this.
    i_clear : ``In(1)``
        Pulse: make all states 0.
    i_epoch : ``In(1)``
        Pulse: make all clocks 1.
    o_busy : ``Out(1)``
        High while that lasts, from the next cycle on; nothing else may be written.
    o_full : ``Out(1)``
        A clock since then has been ``last_clock`` or above.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        super().__init__({
            "i_warp": In(params.warp_bits),
            "o_state": Out(state_layout(params)),
            "i_write": In(1),
            "i_state": In(state_layout(params)),
            "i_clear": In(1),
            "i_epoch": In(1),
            "o_busy": Out(1),
            "o_full": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        count = self._params.warps_per_sm
        # A memory of one word would have no address.
        memory = Memory(shape=state_layout(self._params), depth=max(count, 2), init=[])
        m.submodules.memory = memory
        read, write = memory.read_port(domain="comb"), memory.write_port()
        place, clears = Signal(range(count + 1), name="place"), Signal(name="clears")
        m.d.comb += [
            read.addr.eq(Mux(self.o_busy, place, self.i_warp)),
            write.addr.eq(read.addr),
            write.en.eq(self.i_write | self.o_busy),
            write.data.eq(self.i_state),
            self.o_state.eq(read.data),
        ]
        with m.If(self.i_write & (self.i_state.clock >= self._params.last_clock)):
            m.d.sync += self.o_full.eq(1)
        with m.If(self.o_busy):
            m.d.comb += [write.data.eq(read.data), write.data.clock.eq(1)]
            with m.If(clears):
                m.d.comb += write.data.eq(0)
            m.d.sync += [place.eq(place + 1), self.o_busy.eq(place != count - 1)]
        with m.Elif(self.i_clear | self.i_epoch):
            m.d.sync += [
                self.o_busy.eq(1), self.o_full.eq(0), place.eq(0), clears.eq(self.i_clear)
            ]  # fmt: skip
        return m


class BlockStart(wiring.Component):
    """First clock of a block, behind those of its warp slots and of the block before it.

    It looks at a warp each cycle; the tracker shows it the clocks.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_search : ``In(1)``
        Look for the clock of the block that starts; once low, start again.
    i_slot, i_warps : ``In(slot_bits)``, ``In(warps_per_sm)``
        Slot of the block, and the warp slots that it takes.
    o_looks : ``Out(1)``, o_warp : ``Out(warp_bits)``, i_clock : ``In(clock_bits)``
        Whether it looks at a warp, which, and that warp's clock.
    o_found : ``Out(1)``, o_start : ``Out(clock_bits)``
        The first clock is known.
    i_begin : ``In(1)``
        Pulse, once it is found: the block begins.
    o_begins : ``Out(1)``, o_write : ``Out(1)``
        From then on, whether warps are still to begin, and whether the one shown has to.
    i_restart : ``In(1)``
        Pulse while the block waits to go on: all clocks become 1, and it begins behind that.
    i_is_held : ``In(1)``
        They are not yet.
    i_clear : ``In(1)``
        Pulse: no slot has had a block.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        super().__init__({
            "i_search": In(1),
            "i_slot": In(params.slot_bits),
            "i_warps": In(params.warps_per_sm),
            "o_looks": Out(1),
            "o_warp": Out(params.warp_bits),
            "i_clock": In(params.clock_bits),
            "o_found": Out(1),
            "o_start": Out(params.clock_bits),
            "i_begin": In(1),
            "o_begins": Out(1),
            "o_write": Out(1),
            "i_restart": In(1),
            "i_is_held": In(1),
            "i_clear": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        slots = max(params.blocks_per_sm, 2)
        m.submodules.before = memory = Memory(shape=params.warps_per_sm, depth=slots, init=[])
        read, write = memory.read_port(domain="comb"), memory.write_port()
        had_block = Signal(slots)
        latest, place, before = (
            Signal(params.clock_bits, name="latest"),
            Signal(params.warp_bits, name="place"),
            Signal(params.warps_per_sm, name="before"),
        )
        is_last = place == params.warps_per_sm - 1
        had = had_block.bit_select(self.i_slot, 1).replicate(params.warps_per_sm)
        takes = self.i_warps.bit_select(place, 1)
        m.d.comb += [
            read.addr.eq(self.i_slot),
            write.addr.eq(self.i_slot),
            write.data.eq(self.i_warps),
            before.eq(self.i_warps | (read.data & had)),
            self.o_warp.eq(place),
            self.o_start.eq(latest + 1),
        ]
        with m.If(self.i_clear):
            m.d.sync += had_block.eq(0)
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [latest.eq(0), place.eq(0)]
                with m.If(self.i_search):
                    m.next = "SEARCH"
                with m.If(self.i_restart):
                    m.d.sync += latest.eq(1)
                    m.next = "RESTART"
            with m.State("RESTART"):
                m.d.comb += self.o_begins.eq(1)
                with m.If(~self.i_is_held):
                    m.next = "BEGIN"
            with m.State("SEARCH"):
                m.d.comb += self.o_looks.eq(1)
                m.d.sync += place.eq(Mux(is_last, 0, place + 1))
                with m.If(before.bit_select(place, 1) & (self.i_clock > latest)):
                    m.d.sync += latest.eq(self.i_clock)
                with m.If(~self.i_search):
                    m.next = "IDLE"
                with m.Elif(is_last):
                    m.next = "FOUND"
            with m.State("FOUND"):
                m.d.comb += self.o_found.eq(1)
                with m.If(self.i_begin):
                    m.d.comb += write.en.eq(1)
                    m.d.sync += had_block.bit_select(self.i_slot, 1).eq(1)
                    m.next = "BEGIN"
                with m.Elif(~self.i_search):
                    m.next = "IDLE"
            with m.State("BEGIN"):
                m.d.comb += [self.o_looks.eq(1), self.o_begins.eq(1), self.o_write.eq(takes)]
                m.d.sync += place.eq(place + 1)
                with m.If(is_last):
                    m.next = "IDLE"
        return m
