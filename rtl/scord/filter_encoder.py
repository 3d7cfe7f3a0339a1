"""Filter encoder: the Bloom filter of the locks that a warp holds.

Ref: ScoRD (ISCA'20) Section IV-A "Detecting races due to lock/unlock".
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.packets import LockState
from racetrap.golden_model.scord.params import (
    FILTER_BITS,
    LOCK_HASH_BITS,
    ScordParams,
)
from racetrap.rtl.scord.lock_table import lock_table_layout


class FilterEncoder(wiring.Component):
    """Bloom filter of a lock table; combinational.

    A lock held at device scope has the device key (its hash) and the key of its block (its
    hash XOR the block's mask); one held at block scope has the block's key only.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_table : ``In(lock_table_layout(params))``
        Lock table of the warp.
    i_block_mask : ``In(6)``
        Mask of the warp's block.
    o_filter : ``Out(16)``
        Lock filter, bin 0 in the low half.
    """

    def __init__(self, params: ScordParams):
        super().__init__({
            "i_table": In(lock_table_layout(params)),
            "i_block_mask": In(LOCK_HASH_BITS),
            "o_filter": Out(FILTER_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        filters = []
        for number, entry in enumerate(self.i_table):
            block_key = Signal(LOCK_HASH_BITS, name=f"block_key_{number}")
            m.d.comb += block_key.eq(entry.hash ^ self.i_block_mask)
            is_held = (
                (entry.state == LockState.HELD_BLOCK)
                | (entry.state == LockState.HELD_BLOCK_BY_DEVICE)
                | (entry.state == LockState.HELD_DEVICE)
            )
            filters.append(Mux(is_held, _filter_of_key(block_key), 0))
            is_held_by_device = entry.state == LockState.HELD_DEVICE
            filters.append(Mux(is_held_by_device, _filter_of_key(entry.hash), 0))
        m.d.comb += self.o_filter.eq(reduce(or_, filters))
        return m


def _filter_of_key(key: Value) -> Value:
    """Filter that holds one key: its low three bits choose in bin 0, the high in bin 1."""
    half = LOCK_HASH_BITS // 2
    return Cat(Const(1) << key[:half], Const(1) << key[half:])
