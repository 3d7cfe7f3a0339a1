"""Signatures from the sets that Summary messages carry.

Ref: SigRace (ISCA'09) Section 4.1, Fig. 6, Tables 5-6; Section 5.2 (H3).
"""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.h3 import h3_hash
from racetrap.golden_model.sigrace.params import SigraceParams, SubFilter
from racetrap.golden_model.trace.threads.events import GRANULE_BYTES
from racetrap.rtl.common.h3 import h3_hash_of


def lsb_signature_bits(params: SigraceParams) -> int:
    """Bits of the filters of the LSB portion; they lie lowest in a signature."""
    return sum(one.bits for one in params.sub_filters if one.is_lsb)


class LsbHasher(wiring.Component):
    """Filters of the LSB portion; combinational.

    The hash functions are constant, so each bit of a filter is the OR of the LSB values that hash
    to it.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_bitmap : ``In(lsb_values)``
        A bit for each LSB value, in steps of a granule.
    o_filters : ``Out(lsb_signature_bits(params))``
        Filters of the LSB portion of the signature.
    """

    def __init__(self, params: SigraceParams):
        self._params = params
        super().__init__({
            "i_bitmap": In(params.lsb_values),
            "o_filters": Out(lsb_signature_bits(params)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        filters = [one for one in self._params.sub_filters if one.is_lsb]
        m.d.comb += self.o_filters.eq(Cat(self._filter(one) for one in filters))
        return m

    def _filter(self, one: SubFilter) -> Value:
        if one.rows is None:
            return self.i_bitmap
        sources: list[list[Value]] = [[] for _ in range(one.bits)]
        for value in range(self._params.lsb_values):
            sources[h3_hash(one.rows, value * GRANULE_BYTES)].append(self.i_bitmap[value])
        return Cat(reduce(or_, bits) if bits else Const(0, 1) for bits in sources)


class UsbHasher(wiring.Component):
    """The bits that one USB value sets in the filters of the USB portion; combinational.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Members
    -------
    i_value : ``In(usb_bits)``
        The USB value.
    o_filters : ``Out(signature_bits - lsb_signature_bits(params))``
        One bit in each filter of the USB portion of the signature.
    """

    def __init__(self, params: SigraceParams):
        self._filters = [one for one in params.sub_filters if not one.is_lsb]
        super().__init__({
            "i_value": In(params.usb_bits),
            "o_filters": Out(sum(one.bits for one in self._filters)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o_filters.eq(Cat(self._filter(one) for one in self._filters))
        return m

    def _filter(self, one: SubFilter) -> Value:
        assert one.rows is not None  # only the LSB portion can be one-hot
        index = h3_hash_of(one.rows, (one.bits - 1).bit_length(), self.i_value)
        return (Const(1, 1) << index)[: one.bits]
