"""Hazard window: the packets a bank has in flight, and which of them hold the same entry."""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Array, Const, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.region import index_bits

__all__ = ["HazardWindow", "read_request", "slot_bits", "window_claim"]


def slot_bits(params: ScordParams) -> int:
    """Bits of a slot number, and of the ids of the metadata port."""
    return params.outstanding.bit_length() - 1


def window_claim(params: ScordParams) -> data.StructLayout:
    """A packet that claims a slot: whether it needs an entry, and which."""
    return data.StructLayout({"monitored": 1, "index": index_bits(params)})


def read_request(params: ScordParams) -> data.StructLayout:
    """An entry to be read from memory for a slot."""
    return data.StructLayout({"slot": slot_bits(params), "index": index_bits(params)})


class HazardWindow(wiring.Component):
    """Gives each packet a slot, in order, and says where its entry comes from.

    An entry that another slot holds is not read again: the packet waits in order and takes the
    result of the youngest such slot.  ``newest`` marks that slot, so that at most one slot
    matches and no priority logic is needed.  A packet without an entry (fence, or outside the
    region) takes a slot only to keep its place.  One packet a cycle, until all slots are taken.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(window_claim(params)))``
        Packets claiming a slot.  ``ready`` does not depend on ``valid``.
    o_slot : ``Out(slot_bits)``
        Slot that the packet at ``i`` gets.
    o_read : ``Out(stream.Signature(read_request(params)))``
        Entries to read from memory.
    i_answered, i_answered_slot : ``In(1)``, ``In(slot_bits)``
        The memory has answered for this slot.
    o_check : ``Out(1)``
        The oldest unchecked packet has its entry, and leaves for the pipeline in this cycle.
    o_check_slot, o_check_source : ``Out(slot_bits)``
    o_check_forwarded : ``Out(1)``
        Its slot, and whether and from which slot its entry is forwarded.
    i_retire : ``In(1)``
        Pulse: the oldest slot is free again.
    o_idle : ``Out(1)``
        No slot is taken.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        slot = slot_bits(params)
        super().__init__({
            "i": In(stream.Signature(window_claim(params))),
            "o_slot": Out(slot),
            "o_read": Out(stream.Signature(read_request(params))),
            "i_answered": In(1),
            "i_answered_slot": In(slot),
            "o_check": Out(1),
            "o_check_slot": Out(slot),
            "o_check_forwarded": Out(1),
            "o_check_source": Out(slot),
            "i_retire": In(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        slots = self._params.outstanding
        # Positions count on beyond the slots, so that a full window is not an empty one.
        claimed, checked, retired = (Signal(slot_bits(self._params) + 1) for _ in range(3))
        accepted = Signal()
        taken = Signal.like(claimed)
        m.d.comb += [
            taken.eq(claimed - retired),  # modulo: positions wrap
            self.o_slot.eq(claimed),
            self.i.ready.eq((taken != slots) & (~self.o_read.valid | self.o_read.ready)),
            accepted.eq(self.i.valid & self.i.ready),
            self.o_idle.eq(claimed == retired),
        ]
        m.d.sync += [
            claimed.eq(claimed + accepted),
            checked.eq(checked + self.o_check),
            retired.eq(retired + self.i_retire),
        ]
        matches = self._match(m, accepted, retired)
        self._read(m, accepted, matches)
        self._order(m, accepted, matches, claimed, checked)
        return m

    def _match(self, m, accepted, retired):
        """One-hot: the slot that last held the entry of the packet at ``i``."""
        slots = self._params.outstanding
        newest = Signal(slots)
        matches = Signal(slots)
        one = Const(1, slots)
        for slot in range(slots):
            index = Signal(index_bits(self._params), name=f"index_{slot}")
            m.d.comb += matches[slot].eq(newest[slot] & (index == self.i.p.index))
            with m.If(accepted & (self.o_slot == slot)):
                m.d.sync += index.eq(self.i.p.index)
        leaving = Signal(slots)
        entering = Signal(slots)
        replaced = Signal(slots)
        retired_slot = retired[: slot_bits(self._params)]
        with m.If(self.i_retire):
            m.d.comb += leaving.eq(one << retired_slot)
        with m.If(accepted & self.i.p.monitored):
            m.d.comb += [entering.eq(one << self.o_slot), replaced.eq(matches)]
        m.d.sync += newest.eq(newest & ~leaving & ~replaced | entering)
        return matches

    def _read(self, m, accepted, matches):
        """Ask the memory for an entry that no slot holds."""
        with m.If(self.o_read.ready):
            m.d.sync += self.o_read.valid.eq(0)
        with m.If(accepted & self.i.p.monitored & ~matches.any()):
            m.d.sync += [
                self.o_read.valid.eq(1),
                self.o_read.p.slot.eq(self.o_slot),
                self.o_read.p.index.eq(self.i.p.index),
            ]

    def _order(self, m, accepted, matches, claimed, checked):
        """Send packets to the pipeline in order, each once its entry can be had."""
        slots = self._params.outstanding
        has_entry = Signal(slots)
        forwarded = Signal(slots)
        sources = Array(Signal.like(self.o_slot, name=f"source_{slot}") for slot in range(slots))
        source = reduce(
            or_,
            (matches[slot].replicate(len(self.o_slot)) & slot for slot in range(slots)),
        )
        m.d.comb += [
            self.o_check_slot.eq(checked),
            self.o_check.eq((checked != claimed) & has_entry.bit_select(self.o_check_slot, 1)),
            self.o_check_forwarded.eq(forwarded.bit_select(self.o_check_slot, 1)),
            self.o_check_source.eq(sources[self.o_check_slot]),
        ]
        with m.If(self.i_answered):
            m.d.sync += has_entry.bit_select(self.i_answered_slot, 1).eq(1)
        with m.If(accepted):
            m.d.sync += [
                has_entry.bit_select(self.o_slot, 1).eq(~self.i.p.monitored | matches.any()),
                forwarded.bit_select(self.o_slot, 1).eq(self.i.p.monitored & matches.any()),
                sources[self.o_slot].eq(source),
            ]
