"""Entry: what an access finds of its word, and what it leaves behind.

Ref: ScoRD (ISCA'20) Section IV-A (an entry for each word), Section VI.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.packets import Observed, PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.access import access_layout, block_of
from racetrap.rtl.common.layout import struct_layout

#: Fields of a writer or reader that its packet has under the same name.
_OF_PACKET = ("warp", "clock", "strong", "named", "device", "sc", "size")

#: What an access makes of an entry that it finds: there is one of this epoch, it is that of the
#: word, and its writer and its reader are not older than the access's block.
MATCH = data.StructLayout({"is_there": 1, "is_same": 1, "writer": 1, "reader": 1})


def entry_match(access: data.View, found: data.View, start: Value, epoch: Value) -> Value:
    """What ``MATCH`` has of an access, and an entry that it may find.

    Parameters
    ----------
    access, found : data.View
        The access, and the entry.
    start : Value
        First clock of the access's block.
    epoch : Value
        Number of the epoch: entries of others are empty.
    """
    sides = found.writer, found.reader
    is_there = (found.epoch == epoch) & Cat(side.bytes for side in sides).any()
    is_same = is_there & (found.tag == access.tag)
    return Cat(is_there, is_same, *(side.clock >= start for side in sides))


class EntryUpdate(wiring.Component):
    """Finds a word's entry in what its place holds, and notes an access in it.  Combinational.

    What the entry becomes does not depend on what is ordered, so that the next access of the word
    need not wait for that.  Whether the found entry is that of the word is known late, so that what
    is found is compared with the access meanwhile, as if it were.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_access : ``In(access_layout(params))``
        The access.
    i_found : ``In(entry_layout)``
        What the word's place holds.
    i_match : ``In(MATCH)``
        What the access makes of it, as ``entry_match`` says.
    i_epoch : ``In(epoch_bits)``
        Number of the epoch.
    i_has_wrapped, i_fenced : ``In(1)``
        Whether clocks have wrapped, and a warp has passed a ``fence.sc``, in this launch.
    o_before, o_after : ``Out(entry_layout)``
        The word's entry before the access, and after it.
    o_is_new : ``Out(1)``
        The entry before is not all that the place holds.
    o_displaced, o_dropped : ``Out(1)``
        Another word's entry makes room, and with it goes what leads on.
    o_took_on : ``Out(1)``
        The access takes on a message that it does not end.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        entry = struct_layout(params.entry_layout)
        super().__init__({
            "i_access": In(access_layout(params)),
            "i_found": In(entry),
            "i_match": In(MATCH),
            "i_epoch": In(params.epoch_bits),
            "i_has_wrapped": In(1),
            "i_fenced": In(1),
            "o_before": Out(entry),
            "o_after": Out(entry),
            "o_is_new": Out(1),
            "o_displaced": Out(1),
            "o_dropped": Out(1),
            "o_took_on": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        self._elaborate_before(m)
        m.d.comb += [
            self.o_after.epoch.eq(self.i_epoch),
            self.o_after.tag.eq(self.i_access.tag),
            self.o_after.lost.eq(self.o_before.lost),
        ]
        with m.If(self.i_access.packet.writes):
            self._elaborate_write(m)
        with m.Else():
            self._elaborate_read(m)
        return m

    def _elaborate_before(self, m: Module) -> None:
        """The entry is that of the word, or empty."""
        found, before, match = self.i_found, self.o_before, self.i_match
        packet, is_same = self.i_access.packet, match.is_same
        self._keeps_writer, self._keeps_reader = keeps = (
            Signal(name="keeps_writer"), Signal(name="keeps_reader")
        )  # fmt: skip
        m.d.comb += [
            self.o_displaced.eq(match.is_there & ~is_same),
            self.o_dropped.eq(
                self.o_displaced & (found.message.any() | found.unknown | self.i_fenced)
            ),
            keeps[0].eq(is_same & (~packet.shared | match.writer)),
            keeps[1].eq(is_same & (~packet.shared | match.reader)),
            self.o_is_new.eq(~Cat(keeps).all()),
            before.epoch.eq(self.i_epoch),
            before.tag.eq(self.i_access.tag),
            before.lost.eq(found.lost | self.o_dropped),
            before.unknown.eq(Mux(is_same, found.unknown, before.lost)),
        ]
        for name in ("observed", "message", "mixed", "writer", "reader"):
            value, kept = Value.cast(found[name]), keeps[name == "reader"]
            m.d.comb += Value.cast(before[name]).eq(value & kept.replicate(len(value)))

    def _side(self, side: data.View) -> list:
        """Statements that set the fields of a writer or reader that are the packet's."""
        access, packet = self.i_access, self.i_access.packet
        return [
            *(side[name].eq(packet[name]) for name in _OF_PACKET),
            side.slot.eq(packet.block),
            side.lane.eq(access.lane),
            side.atomic.eq(packet.kind == PacketKind.ATOMIC),
        ]

    def _join(
        self, m: Module, keeps: Value, old: data.View, new: data.View, if_kept: data.View
    ) -> None:
        """A side has the bytes of an earlier access by the same warp, too, if they are alike.

        ``old`` is what is found, whether the word ``keeps`` it or not, and ``if_kept`` what is new
        if so.
        """
        packet = self.i_access.packet
        joins, alike = Signal(name="joins"), Signal(name="alike")
        own = ("lane", "several", "bytes", "place")
        fields = [name for name in new.shape().members if name not in own]
        m.d.comb += [
            alike.eq(Cat(old[name] for name in fields) == Cat(if_kept[name] for name in fields)),
            joins.eq(keeps & (old.bytes & ~packet.bytes).any() & alike),
            new.bytes.eq(packet.bytes | (old.bytes & joins.replicate(len(packet.bytes)))),
            new.several.eq(joins & (old.several | (old.lane != new.lane))),
        ]

    def _elaborate_read(self, m: Module) -> None:
        before, after, access, match = self.o_before, self.o_after, self.i_access, self.i_match
        packet, writer, reader = access.packet, self.i_found.writer, self.i_found.reader
        observes, is_same = Signal(name="observes"), Signal(name="is_same_read")
        in_block = (block_of(self._params, writer) == packet.block) & match.writer
        fits = in_block | (writer.device & packet.device) | (writer.warp == packet.warp)
        is_one = access.is_single & (
            (before.observed == Observed.NOBODY) | ((before.observed == Observed.READER) & is_same)
        )
        m.d.comb += [
            observes.eq(
                self._keeps_writer
                & writer.strong
                & packet.strong
                & (writer.size == packet.size)
                & (writer.bytes & packet.bytes).any()
                & fits
            ),
            # A reader that is none has no bytes, but may look like one of warp and clock 0.
            is_same.eq(
                self._keeps_reader
                & reader.bytes.any()
                & (reader.warp == packet.warp)
                & match.reader
                & (reader.clock == packet.clock)
                & (reader.lane == access.lane)
            ),
            after.unknown.eq(before.unknown),
            after.message.eq(before.message),
            after.mixed.eq(before.mixed),
            after.writer.eq(before.writer),
            after.observed.eq(before.observed),
            *self._side(after.reader),
        ]
        with m.If(observes):
            m.d.comb += after.observed.eq(Mux(is_one, Observed.READER, Observed.SEVERAL))
        with m.Elif(before.observed == Observed.READER):
            m.d.comb += after.observed.eq(Observed.SEVERAL)
        self._join(m, self._keeps_reader, reader, after.reader, after.reader)

    def _elaborate_write(self, m: Module) -> None:
        before, after, packet = self.o_before, self.o_after, self.i_access.packet
        took_on, unknown, rest = self._writer(m, after.writer, before, "")
        if_kept = Signal.like(after.writer, name="writer_if_kept")
        self._writer(m, if_kept, self.i_found, "_if_kept")
        is_atomic, is_message = packet.kind == PacketKind.ATOMIC, Signal()
        m.d.comb += [
            self.o_took_on.eq(took_on),
            is_message.eq(
                took_on | unknown | (packet.strong & (packet.released | packet.released_device))
            ),
            after.unknown.eq(before.unknown & ~is_atomic & ~packet.bytes.all()),
            after.message.eq((packet.bytes | rest) & is_message.replicate(len(rest))),
            after.mixed.eq(took_on & (before.mixed | rest.any())),
        ]
        self._join(m, self._keeps_writer, self.i_found.writer, after.writer, if_kept)

    def _writer(
        self, m: Module, new: data.View, entry: data.View, suffix: str
    ) -> tuple[Signal, Signal, Signal]:
        """Set the fields of a writer, if it finds an entry.

        Gives whether it takes on a message, whether it may take on a displaced one, and bytes of
        the message that it leaves.
        """
        packet, old = self.i_access.packet, entry.writer
        is_atomic, had, unknown, took_on = (
            Signal(name=name + suffix)
            for name in ("is_atomic", "had_message", "is_unknown", "takes_on")
        )
        rest = Signal.like(entry.message, name="rest" + suffix)
        m.d.comb += [
            is_atomic.eq(packet.kind == PacketKind.ATOMIC),
            had.eq(entry.message.any()),
            rest.eq(entry.message & ~packet.bytes),
            unknown.eq(is_atomic & entry.unknown),
            took_on.eq(had & (is_atomic | rest.any())),
            *self._side(new),
            new.released.eq(packet.released | unknown | (took_on & old.released)),
            new.released_device.eq(
                packet.released_device | unknown | (took_on & old.released_device)
            ),
            new.operation.eq(packet.release),
            new.place.eq(self.i_access.place),
            new.handed.eq(took_on | unknown | (is_atomic & ~had & self.i_has_wrapped)),
        ]
        return took_on, unknown, rest
