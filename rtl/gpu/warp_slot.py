"""Warp slot of the GPU: index of the state kept for a warp."""

from __future__ import annotations

from amaranth.lib import data

from racetrap.golden_model.gpu.params import GpuParams


def warp_slot(params: GpuParams) -> data.StructLayout:
    """Index by SM and warp; the block slot is not needed, since a warp slot belongs to one
    block."""
    return data.StructLayout({"warp": params.warp_bits, "sm": params.sm_bits})


def warp_index(params: GpuParams, slot: data.View, holder: data.View):
    """Statements that set ``slot`` to that of the warp of a packet, a fence or an entry."""
    return [slot.warp.eq(holder.warp), slot.sm.eq(holder.block >> params.slot_bits)]
