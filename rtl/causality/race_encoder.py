"""Race encoder: what is missing between two accesses, and both as a report has them.

Ref: ScoRD (ISCA'20) Section IV-C, Section VI.
"""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.causality.packets import Against, PacketKind, RaceKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.access import block_of
from racetrap.rtl.common.layout import struct_layout


class RaceEncoder(wiring.Component):
    """The race of a packet with one side of its word's entry.  Combinational.

    Parameters
    ----------
    params : CausalityParams
        Configuration.

    Members
    -------
    i_packet : ``In(packet_layout)``
        The later access.
    i_side : ``In(writer's layout)``
        The earlier access; of a reader the fields of a writer alone are 0.
    i_is_reader : ``In(1)``
        Whether it is the reader.
    i_against : ``In(2)``
        Earlier accesses that race; none of a store of unequal values.
    i_bank : ``In``
        Detector bank.
    i_start : ``In(clock_bits)``
        First clock of the packet's block.
    i_owner : ``In({start, release, release_device})``
        Clocks of the warp slot of the earlier access.
    o_is_own, o_same_block, o_fits : ``Out(1)``
        Whether both are of one warp, of one block, and of scopes that include each other.
    o_race : ``Out(race_layout)``
        The race.
    """

    def __init__(self, params: CausalityParams):
        self._params = params
        self._race = struct_layout(params.race_layout)
        super().__init__({
            "i_packet": In(struct_layout(params.packet_layout)),
            "i_side": In(struct_layout(params.writer_layout)),
            "i_is_reader": In(1),
            "i_against": In(2),
            "i_bank": In(self._race["bank"].width),
            "i_start": In(params.clock_bits),
            "i_owner": In(data.StructLayout(
                dict.fromkeys(("start", "release", "release_device"), params.clock_bits)
            )),
            "o_is_own": Out(1),
            "o_same_block": Out(1),
            "o_fits": Out(1),
            "o_race": Out(self._race),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, packet, side = self._params, self.i_packet, self.i_side
        block, warp = block_of(params, side), packet.warp[: params.warp_bits]
        is_new = Signal()
        m.d.comb += [
            is_new.eq(side.clock >= self.i_start),
            self.o_is_own.eq((side.warp == packet.warp) & is_new),
            self.o_same_block.eq((block == packet.block) & is_new),
            self.o_fits.eq(self.o_same_block | (side.device & packet.device)),
        ]
        has_owner = self.i_against != Against.NONE
        # A lane comes behind itself: another one races.
        others, is_other = Signal(len(packet.lanes)), has_owner & (side.warp == packet.warp)
        is_one = ~(packet.lanes & (packet.lanes - 1)).any()
        not_own = ~((is_other & ~is_one) << side.lane)[: len(others)]
        m.d.comb += others.eq(packet.lanes & not_own)
        owner = {
            "block": block, "warp": side.warp[: params.warp_bits], "lane": side.lane,
            "kind": Mux(side.atomic, PacketKind.ATOMIC, ~self.i_is_reader),
            "strong": side.strong, "device": side.device,
        }  # fmt: skip
        m.d.comb += [
            self.o_race[name].eq(value)
            for name, value in {
                "bank": self.i_bank, "against": self.i_against, "warp": warp,
                "lane": highest_set(others),
                **{name: packet[name] for name in
                   ("pc", "word", "shared", "block", "kind", "strong", "device")},
                "race": Mux(has_owner, self._missing(m), RaceKind.UNEQUAL_STORE),
                **{f"owner_{name}": Mux(has_owner, value, 0) for name, value in owner.items()},
            }.items()
        ]  # fmt: skip
        return m

    def _missing(self, m: Module) -> Signal:
        packet, side, owner = self.i_packet, self.i_side, self.i_owner
        race, is_flag, is_released, to_device = Signal(3), Signal(), Signal(), Signal()
        m.d.comb += [
            is_flag.eq(side.strong & packet.strong & (packet.kind != PacketKind.STORE)),
            is_released.eq((owner.release >= side.clock) | (is_flag & side.released)),
            to_device.eq((owner.release_device >= side.clock) | (is_flag & side.released_device)),
        ]
        with m.If(self.o_is_own):
            m.d.comb += race.eq(RaceKind.WARP_BARRIER)
        with m.Elif(side.strong & packet.strong & ~self.o_fits):
            m.d.comb += race.eq(RaceKind.SCOPE)
        with m.Elif(Mux(self.o_same_block, is_released, to_device)):
            m.d.comb += race.eq(RaceKind.ACQUIRE)
        with m.Elif(self.o_same_block):
            has_any = owner.release >= owner.start
            m.d.comb += race.eq(Mux(has_any, RaceKind.RELEASE, RaceKind.BARRIER))
        with m.Else():
            m.d.comb += race.eq(Mux(is_released, RaceKind.SCOPE, RaceKind.RELEASE))
        return race


def highest_set(bits: Value) -> Value:
    """Number of the highest bit that is set; 0 if none is."""
    number: Value = Value.cast(0)
    for place in range(1, len(bits)):
        number = Mux(bits[place], place, number)
    return number
