"""Finished block of instructions: its timestamp, and the addresses read and written.

Ref: SigRace (ISCA'09) Section 3.2.
"""

from __future__ import annotations

from typing import NamedTuple

from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.packets import Summary
from racetrap.golden_model.sigrace.params import SigraceParams


class FinishedBlock(NamedTuple):
    """Block passed from a core unit to its compressor.

    Parameters
    ----------
    core, context : int
        Place of the core unit.
    thread : int
        SigRaceID.
    sequence : int
        Sequence number of the message.
    cause : int
        ``Cause`` of the end.
    timestamp : tuple of int
        Counters of all threads.
    read, write : AddressSet or int
        Address sets (form ``sets``) or signatures (form ``hashed``).
    """

    core: int
    context: int
    thread: int
    sequence: int
    cause: int
    timestamp: tuple[int, ...]
    read: AddressSet | int
    write: AddressSet | int

    def hashed(self, params: SigraceParams) -> FinishedBlock:
        """The same block with signatures."""
        return self._replace(
            read=_signature(params, self.read), write=_signature(params, self.write)
        )

    def summary(self, params: SigraceParams) -> Summary:
        """Summary of the block that the RDM must receive."""
        # No set is left in it.
        return Summary(*self.hashed(params))  # type: ignore[arg-type]


def _signature(params: SigraceParams, addresses: AddressSet | int) -> int:
    """Signature of a set in either form."""
    return addresses if isinstance(addresses, int) else addresses.signature(params)
