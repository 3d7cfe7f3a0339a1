"""Access: a packet with what all stages of a check must know of its lanes.

Ref: ScoRD (ISCA'20) Section VI (threads of a warp).
"""

from __future__ import annotations

from functools import reduce
from operator import xor

from amaranth.hdl import Cat, Const, Mux, Value
from amaranth.lib import data

from racetrap.golden_model.causality.packets import PacketKind
from racetrap.golden_model.causality.params import LANE_BITS, PLACE_BITS, CausalityParams
from racetrap.golden_model.events import WARP_SIZE
from racetrap.rtl.common.bits import lowest_set
from racetrap.rtl.common.layout import struct_layout

#: Code of the tile of all lanes; that of a tile of ``1 << n`` is ``n + 1``, and 0 is none.
WHOLE_WARP = LANE_BITS + 1
TILE_BITS = WHOLE_WARP.bit_length()


def access_layout(params: CausalityParams) -> data.StructLayout:
    """A packet, the tag of its word, its highest lane, whether that is its only one, and a hash of
    its instruction's place."""
    return data.StructLayout({
        "packet": struct_layout(params.packet_layout),
        "tag": params.tag_bits,
        "lane": LANE_BITS,
        "is_single": 1,
        "place": PLACE_BITS,
    })  # fmt: skip


def describe(access: data.View, packet: data.View, tag: Value) -> list:
    """Statements that set ``access`` to that of a packet."""
    return [
        access.packet.eq(packet),
        access.tag.eq(tag),
        access.lane.eq(~lowest_set(packet.lanes[::-1])),
        access.is_single.eq(~(packet.lanes & (packet.lanes - 1)).any()),
        access.place.eq(_place_of(packet.pc)),
    ]


def _place_of(pc: Value) -> Value:
    return reduce(xor, (pc[bit : bit + PLACE_BITS] for bit in range(0, len(pc), PLACE_BITS)))


def reads(packet: data.View) -> Value:
    """Whether an access reads: all but stores."""
    return packet.kind != PacketKind.STORE


def is_same_lane(access: data.View, side: data.View) -> Value:
    """Whether one lane made both, if their warps are the same."""
    return access.is_single & (access.lane == side.lane) & ~side.several


def block_of(params: CausalityParams, side: data.View) -> Value:
    """Block slot of the GPU of an entry's writer or reader."""
    return Cat(side.slot, side.warp[params.warp_bits :])


def tile_of(lanes: Value) -> Value:
    """Code of the aligned group of a power of two lanes that a mask is; 0 if it is none."""
    return _group(lanes)[2]


def _group(lanes: Value) -> tuple[Value, Value, Value]:
    """Whether all lanes of an aligned group are in a mask, whether none is, and their tile."""
    if len(lanes) == 1:
        return lanes, ~lanes, Mux(lanes, Const(1, TILE_BITS), 0)
    half = len(lanes) // 2
    (low_full, low_free, low), (high_full, high_free, high) = (
        _group(part) for part in (lanes[:half], lanes[half:])
    )
    is_full, code = low_full & high_full, Const(len(lanes).bit_length(), TILE_BITS)
    tile = Mux(high_free, low, Mux(low_free, high, 0))
    return is_full, low_free & high_free, Mux(is_full, code, tile)


def in_tile(lane: Value, tile: Value) -> Value:
    """Lanes of the tile with such a code that a lane is in; all lanes if there are no tiles."""
    outside: Value = Const(0, WARP_SIZE)
    for bit in range(LANE_BITS):
        is_compared = (tile != 0) & (tile <= bit + 1)
        has_bit = Const(sum(1 << other for other in range(WARP_SIZE) if other >> bit & 1))
        differs = Mux(lane[bit], ~has_bit, has_bit)
        outside |= differs & is_compared.replicate(WARP_SIZE)
    return ~outside
