"""Signatures: sets of addresses, encoded in parallel Bloom filters.

A signature is one integer; ``SigraceParams.sub_filters`` says where its filters lie.  Two sets
may have a common address only if their intersection keeps a bit in every filter.

Ref: SigRace (ISCA'09) Sections 2.3 and 4.1, Fig. 6; Section 5.2 (H3 hashing).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from racetrap.golden_model.h3 import h3_hash
from racetrap.golden_model.sigrace.params import SigraceParams, SubFilter
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2

#: Address portions whose bits are cached; bounds the memory for scattered addresses.
_REMEMBERED = 1 << 15
_GRANULE_MASK = (1 << 32) - (1 << GRANULE_LOG2)


class SignatureHash:
    """Signature bits of addresses, and tests of signatures.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Attributes
    ----------
    masks : tuple of int
        All bits of each filter, by ascending offset.
    """

    def __init__(self, params: SigraceParams) -> None:
        self.masks = tuple(((1 << each.bits) - 1) << each.offset for each in params.sub_filters)
        self._lsb_filters = [each for each in params.sub_filters if each.is_lsb]
        self._usb_filters = [each for each in params.sub_filters if not each.is_lsb]
        self._lsb_bits = params.lsb_bits
        self._lsb_mask = (1 << params.lsb_bits) - 1
        self._lsb: dict[int, int] = {}
        self._usb: dict[int, int] = {}

    def lsb(self, value: int) -> int:
        """Bits that an LSB value (the portion divided by the granule's size) sets."""
        bits = self._lsb.get(value, 0)
        return bits or _remember(self._lsb, value, self._lsb_filters, value << GRANULE_LOG2)

    def usb(self, value: int) -> int:
        """Bits that a USB value sets."""
        bits = self._usb.get(value, 0)
        return bits or _remember(self._usb, value, self._usb_filters, value)

    def granule(self, address: int) -> int:
        """Bits that the granule with the byte ``address`` sets, one in each filter."""
        return self.lsb((address & self._lsb_mask) >> GRANULE_LOG2) | self.usb(
            (address & _GRANULE_MASK) >> self._lsb_bits
        )

    def is_null(self, signature: int) -> bool:
        """Whether any filter of ``signature``, an intersection, is empty."""
        return 0 in map(signature.__and__, self.masks)


def _remember(known: dict[int, int], value: int, filters: list[SubFilter], portion: int) -> int:
    """Hash a portion and cache its bits."""
    bits = 0
    for each in filters:
        index = portion >> GRANULE_LOG2 if each.rows is None else h3_hash(each.rows, portion)
        bits |= 1 << each.offset + index
    if len(known) >= _REMEMBERED:
        known.clear()
    known[value] = bits
    return bits


@cache
def signature_hash(params: SigraceParams) -> SignatureHash:
    """Hash functions of a configuration, shared by its users."""
    return SignatureHash(params)


def signature_of_granules(params: SigraceParams, granules: Iterable[int]) -> int:
    """Signature of the granules with these byte addresses."""
    hashes = signature_hash(params)
    signature = 0
    for granule in granules:
        signature |= hashes.granule(granule)
    return signature
