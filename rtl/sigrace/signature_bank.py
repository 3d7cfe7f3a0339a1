"""Signature bank: the parallel Bloom filters of one signature, and the hash into them.

Ref: SigRace (ISCA'09) Sections 2.3 and 4.1, Fig. 6; Section 5.2 (H3 hashing).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2
from racetrap.rtl.common.h3 import h3_hash_of
from racetrap.rtl.sigrace.layouts import index_layout, set_layout


def granule_indices(params: SigraceParams, granule: Value) -> Value:
    """Packed ``index_layout(params)`` of a granule: XOR trees, combinational."""
    lsb_values_bits = params.lsb_bits - GRANULE_LOG2
    lsb, usb = granule[:lsb_values_bits], granule[lsb_values_bits:]
    indices = []
    for sub_filter in params.sub_filters:
        bits = (sub_filter.bits - 1).bit_length()
        if sub_filter.rows is None:
            indices.append(lsb)
        elif sub_filter.is_lsb:
            # The first rows are those of the address bits inside the granule.
            indices.append(h3_hash_of(sub_filter.rows[GRANULE_LOG2:], bits, lsb))
        else:
            indices.append(h3_hash_of(sub_filter.rows, bits, usb))
    return Cat(*indices)


class SignatureBank(wiring.Component):
    """A signature; one granule is inserted a cycle.

    ``i_clear`` empties it before the insertion of the same cycle.

    Parameters
    ----------
    params : SigraceParams
        Configuration, with form ``hashed``.

    Members
    -------
    i_indices : ``In(index_layout(params))``
        The granule's bit in each filter.
    i_insert, i_clear : ``In(1)``
        Insert the granule; empty the signature.
    o_set : ``Out(set_layout(params))``
        The signature, before this cycle's changes.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i_indices": In(index_layout(params)),
            "i_insert": In(1),
            "i_clear": In(1),
            "o_set": Out(set_layout(params), init={"is_empty": 1}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        held = self.o_set
        decoded = Cat(
            (1 << self.i_indices[str(number)])[: sub_filter.bits]
            for number, sub_filter in enumerate(self._params.sub_filters)
        )
        with m.If(self.i_insert):
            kept = held.signature & ~self.i_clear.replicate(len(held.signature))
            m.d.sync += [held.signature.eq(kept | decoded), held.is_empty.eq(0)]
        with m.Elif(self.i_clear):
            m.d.sync += [held.signature.eq(0), held.is_empty.eq(1)]
        return m
