"""Fence bundle: the fences that all banks count in one cycle, in the bits of one packet.

A packet of kind ``FENCE`` is itself the fence of the first lane.  Those of the other lanes, and a
bit for each lane that has one, lie in the fields that a fence does not use.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Value
from amaranth.lib import data

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout


def bundle_layout(params: ScordParams) -> data.StructLayout:
    """Which lanes have a fence, and the fences of all lanes but the first."""
    return data.StructLayout({
        "present": params.fence_lanes,
        "others": data.ArrayLayout(struct_layout(params.fence_layout), params.fence_lanes - 1),
    })  # fmt: skip


def unused_by_fence(packet: data.View) -> Value:
    """The fields of a packet or a segment that a single fence leaves 0."""
    return Cat(packet.barrier_id, packet.filter, packet.pc, packet.word, packet.generation)


def fences_of(params: ScordParams, packet: data.View) -> list[data.View]:
    """Fence of each lane in a packet of fences; the first is the packet itself."""
    if params.fence_lanes == 1:
        return [packet]
    return [packet, *(_bundle(params, packet).others[k] for k in range(params.fence_lanes - 1))]


def fence_presence(params: ScordParams, packet: data.View) -> list[Value]:
    """For each lane, whether it has a fence in a packet of fences."""
    if params.fence_lanes == 1:
        return [Const(1)]
    return list(_bundle(params, packet).present)


def _bundle(params: ScordParams, packet: data.View) -> data.View:
    layout = bundle_layout(params)
    return data.View(layout, unused_by_fence(packet)[: layout.size])
