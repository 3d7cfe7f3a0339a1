"""Address set of a block before hashing: its LSB values and its USB values.

A signature represents all pairs of its LSB and USB values, so these two sets determine it; with
``form = sets`` a core collects them, since they compress better.

Ref: SigRace (ISCA'09) Section 4.1, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.signature import signature_hash
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2


class AddressSet:
    """A read set or a write set.

    Parameters
    ----------
    bitmap : int
        A bit for each LSB value.
    usb : iterable of int
        Different USB values, in the order of their first insertion.
    """

    def __init__(self, bitmap: int = 0, usb: Iterable[int] = ()) -> None:
        self.bitmap = bitmap
        self.usb = list(usb)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AddressSet) and self.bitmap == other.bitmap and self.usb == other.usb
        )

    def __repr__(self) -> str:
        return f"AddressSet({self.bitmap:#x}, {self.usb})"

    __hash__ = None  # type: ignore[assignment]

    def insert(self, params: SigraceParams, granule: int) -> None:
        """Add the granule with the byte address ``granule``; the caller checks the limit."""
        usb = granule >> params.lsb_bits
        self.bitmap |= 1 << (granule >> GRANULE_LOG2) % params.lsb_values
        if usb not in self.usb:
            self.usb.append(usb)

    def lsb_values(self) -> Iterator[int]:
        """LSB values in the set, ascending."""
        bitmap = self.bitmap
        while bitmap:
            lowest = bitmap & -bitmap
            yield lowest.bit_length() - 1
            bitmap ^= lowest

    def signature(self, params: SigraceParams) -> int:
        """Signature of the set."""
        hashes = signature_hash(params)
        signature = 0
        for value in self.lsb_values():
            signature |= hashes.lsb(value)
        for value in self.usb:
            signature |= hashes.usb(value)
        return signature
