"""Hazard window: a bank's packets in flight, and which of them hold the same entry."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.gpu.region import index_bits


def slot_bits(params: GpuParams) -> int:
    """Bits of a slot number, and of the ids of the metadata port."""
    return params.outstanding.bit_length() - 1


def window_claim(params: GpuParams) -> data.StructLayout:
    """A packet that claims a slot: whether it needs an entry, which one, and whether it is new."""
    is_new = int(params.valid_segments > 0)
    return data.StructLayout({"monitored": 1, "index": index_bits(params), "is_new": is_new})


def read_request(params: GpuParams) -> data.StructLayout:
    """An entry to be read from memory for a slot."""
    return data.StructLayout({"slot": slot_bits(params), "index": index_bits(params)})


class HazardWindow(wiring.Component):
    """Gives each packet a slot, in order, and determines the source of its entry.

    An entry that another slot holds is not read again: the packet waits in order and takes the
    result of the youngest such slot.  ``newest`` marks that slot, so that at most one slot matches
    and no priority logic is needed.  A packet without an entry (fence, or outside the region) takes
    a slot only to keep its place.  Throughput is one packet a cycle while slots are free.  A new
    entry is neither in memory nor in a slot, so it is not read. Without ``merge_in_flight`` a
    packet is not accepted while a slot holds its entry.

    Parameters
    ----------
    params : GpuParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(window_claim(params)))``
        Packets claiming a slot.  ``ready`` does not depend on ``valid``.
    o_slot : ``Out(slot_bits)``
        Slot that the packet at ``i`` gets.
    o_read : ``Out(stream.Signature(read_request(params)))``
        Entries to read from memory.
    i_answered : ``In(stream.Signature(slot_bits, always_ready=True))``
        Slots for which the memory has answered.
    o_check : ``Out(1)``
        The oldest unchecked packet has its entry, and leaves for the pipeline in this cycle.
    o_check_slot, o_check_source : ``Out(slot_bits)``
    o_check_forwarded : ``Out(1)``
        Its slot, and whether and from which slot its entry is forwarded.
    o_check_new : ``Out(1)``
        Its entry is new; only with a table of valid segments.
    i_hold : ``In(1)``
        No packet may leave in this cycle; only with ``holds_checks``.
    i_retire : ``In(1)``
        Pulse: the oldest slot is free again.
    o_idle : ``Out(1)``
        No slot is taken.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        slot = slot_bits(params)
        super().__init__({
            "i": In(stream.Signature(window_claim(params))),
            "o_slot": Out(slot),
            "o_read": Out(stream.Signature(read_request(params))),
            "i_answered": In(stream.Signature(slot, always_ready=True)),
            "o_check": Out(1),
            "o_check_slot": Out(slot),
            "o_check_forwarded": Out(1),
            "o_check_source": Out(slot),
            **({"o_check_new": Out(1)} if params.valid_segments else {}),
            **({"i_hold": In(1)} if params.holds_checks else {}),
            "i_retire": In(1),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        slots = self._params.outstanding
        # Positions count beyond the slots, so that a full window differs from an empty one.
        claimed, noted, checked, retired = (
            Signal(slot_bits(self._params) + 1, name=name)
            for name in ("claimed", "noted", "checked", "retired")
        )
        accepted, is_full, is_noted = (
            Signal(name=name) for name in ("accepted", "is_full", "is_noted")
        )
        m.d.comb += [
            is_full.eq((claimed ^ retired) == slots),
            self.o_slot.eq(claimed),
            self.i.ready.eq(~is_full & (~is_noted | self.o_read.ready)),
            accepted.eq(self.i.valid & self.i.ready),
            self.o_idle.eq(claimed == retired),
            self.o_check_slot.eq(checked),
        ]
        m.d.sync += [
            claimed.eq(claimed + accepted),
            noted.eq(claimed),
            checked.eq(checked + self.o_check),
            retired.eq(retired + self.i_retire),
        ]
        self._is_new = Signal(name="is_new")
        held_by = self._elaborate_holder(m, accepted)
        needs_read = self._elaborate_read(m, accepted, is_noted, held_by)
        self._elaborate_origins(m, is_noted, held_by)
        has_entry = self._elaborate_answers(m, is_noted, needs_read)
        m.d.comb += self.o_check.eq((checked != noted) & has_entry)
        if self._params.holds_checks:
            with m.If(self.i_hold):
                m.d.comb += self.o_check.eq(0)
        return m

    def _elaborate_holder(self, m, accepted):
        """One-hot, of the packet accepted last: the slot that last held its entry."""
        slots = self._params.outstanding
        newest, matches, held_by = (
            Signal(slots, name=name) for name in ("newest", "matches", "held_by")
        )
        # One-hot copies of two positions: decoding them would cost more than these flip-flops.
        claiming, retiring = (Signal(slots, init=1, name=name) for name in ("claiming", "retiring"))
        for slot in range(slots):
            index = Signal(index_bits(self._params), name=f"index_{slot}", reset_less=True)
            m.d.comb += matches[slot].eq(newest[slot] & (index == self.i.p.index))
            with m.If(accepted & claiming[slot]):
                m.d.sync += index.eq(self.i.p.index)
        if not self._params.merge_in_flight:
            with m.If(self.i.p.monitored & matches.any()):
                m.d.comb += self.i.ready.eq(0)
        is_entering = (accepted & self.i.p.monitored).replicate(slots)
        leaving = retiring & self.i_retire.replicate(slots)
        m.d.sync += newest.eq(newest & ~leaving & ~(matches & is_entering) | claiming & is_entering)
        with m.If(accepted):
            m.d.sync += [
                claiming.eq(claiming.rotate_left(1)),
                held_by.eq(matches & self.i.p.monitored.replicate(slots)),
            ]
        with m.If(self.i_retire):
            m.d.sync += retiring.eq(retiring.rotate_left(1))
        return held_by

    def _elaborate_read(self, m, accepted, is_noted, held_by):
        """Request an entry that no slot holds, in the cycle after the match.

        The next packet waits while the memory is not ready, even if no entry is requested: that is
        known too late for the stream's ``ready``.
        """
        is_monitored, needs_read = (Signal(name=name) for name in ("is_monitored", "needs_read"))
        with m.If(~self.o_read.valid | self.o_read.ready):
            m.d.sync += is_noted.eq(accepted)
        with m.If(accepted):
            m.d.sync += [
                is_monitored.eq(self.i.p.monitored),
                self.o_read.p.slot.eq(self.o_slot),
                self.o_read.p.index.eq(self.i.p.index),
            ]
        m.d.comb += [
            needs_read.eq(is_monitored & ~held_by.any()),
            self.o_read.valid.eq(is_noted & needs_read),
        ]
        if self._params.valid_segments:
            with m.If(accepted):
                m.d.sync += self._is_new.eq(self.i.p.is_new)
            with m.If(self._is_new):
                m.d.comb += needs_read.eq(0)
        return needs_read

    def _elaborate_origins(self, m, is_noted, held_by):
        """Keep for each slot where its entry comes from."""
        bits = slot_bits(self._params)
        origin = data.StructLayout({
            "is_forwarded": 1, "source": bits, "is_new": int(self._params.valid_segments > 0),
        })  # fmt: skip
        write, read = self._slot_memory(m, "origins", origin)
        # Not a chain of operators, which Amaranth follows by recursion: there may be 1,024 slots.
        source = (
            Cat(held_by[slot] for slot in range(len(held_by)) if slot >> bit & 1).any()
            for bit in range(bits)
        )
        m.d.comb += [
            write.en.eq(is_noted),
            write.addr.eq(self.o_read.p.slot),
            write.data.is_forwarded.eq(held_by.any()),
            write.data.source.eq(Cat(source)),
            read.addr.eq(self.o_check_slot),
            self.o_check_forwarded.eq(read.data.is_forwarded),
            self.o_check_source.eq(read.data.source),
        ]
        if self._params.valid_segments:
            m.d.comb += [
                write.data.is_new.eq(self._is_new),
                self.o_check_new.eq(read.data.is_new),
            ]

    def _elaborate_answers(self, m, is_noted, needs_read):
        """Whether the slot to be checked has its answer.

        Claims and answers write a memory each, and a slot waits while its two marks differ: a
        claim that needs an answer makes them differ, the answer makes them equal.
        """
        claim, claim_checked, claim_answered = self._slot_memory(m, "claim_marks", 1, 2)
        answer, answer_checked, answer_claimed = self._slot_memory(m, "answer_marks", 1, 2)
        m.d.comb += [
            claim.en.eq(is_noted),
            claim.addr.eq(self.o_read.p.slot),
            claim.data.eq(answer_claimed.data ^ needs_read),
            claim_checked.addr.eq(self.o_check_slot),
            claim_answered.addr.eq(self.i_answered.payload),
            answer.en.eq(self.i_answered.valid),
            answer.addr.eq(self.i_answered.payload),
            answer.data.eq(claim_answered.data),
            answer_checked.addr.eq(self.o_check_slot),
            answer_claimed.addr.eq(self.o_read.p.slot),
        ]
        return claim_checked.data == answer_checked.data

    def _slot_memory(self, m, name, shape, reads=1):
        """A memory with a word for each slot: write port, asynchronous read ports."""
        memory = Memory(shape=shape, depth=self._params.outstanding, init=[])
        m.submodules[name] = memory
        return memory.write_port(), *(memory.read_port(domain="comb") for _ in range(reads))
