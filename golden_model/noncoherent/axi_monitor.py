"""AXI monitor: DMA as observed on a bus, from a burst's address to its last response.

It does not see descriptors, so bytes are in flight only from the address handshake until all bursts
of the engine have their last response.  Races with CPU accesses between descriptor and address, or
between the response and its notification, are missed.

Ref: AMBA AXI and ACE Protocol Specification (IHI 0022), Sections A3.4 and A5.3; Young (UBC 2020)
Section 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.noncoherent.packets import BusOperation
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import OperationKind


class Burst(NamedTuple):
    """Fields of an address handshake.

    Parameters
    ----------
    id : int
        Transaction id: the number of the engine, if there are several.
    address : int
        Byte address.
    length : int
        Beats, less one.
    size : int
        Log2 of the bytes of a beat.
    burst : int
        ``AxiBurst``.
    """

    id: int
    address: int
    length: int
    size: int
    burst: int


class BusCycle(NamedTuple):
    """Handshakes of a clock cycle: addresses, and ids of last responses."""

    read: Burst | None = None
    write: Burst | None = None
    read_done: int | None = None
    write_done: int | None = None


def range_of(params: NoncoherentParams, burst: Burst) -> tuple[int, int]:
    """First byte of a burst and the one after its last; write strobes do not count.

    All beats of a FIXED burst have one address; a WRAP burst covers its whole container.
    """
    unit = 1 << burst.size
    total = (burst.length + 1) * unit
    if burst.burst == AxiBurst.WRAP:
        first = burst.address & -total
        end = first + total
    else:
        first, beat = burst.address, burst.address & -unit
        end = beat + (unit if burst.burst == AxiBurst.FIXED else total)
    return first, min(end, 1 << params.address_bits)


class AxiMonitor:
    """Counts bursts without their last response, and derives operations.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.
    """

    def __init__(self, params: NoncoherentParams) -> None:
        self._params = params
        self._under_way = [0] * params.engines
        self._bursts = 0

    def cycle(self, seen: BusCycle) -> Iterator[BusOperation]:
        """Operations of a clock cycle: its bursts, then a sync for each engine that is done."""
        kinds = ((OperationKind.DMA_READ, seen.read), (OperationKind.DMA_WRITE, seen.write))
        for kind, burst in kinds:
            if burst is not None:
                engine = self._engine(burst.id)
                self._under_way[engine] += 1
                first, end = range_of(self._params, burst)
                yield BusOperation(kind, engine, first, end - first, tag=self._tag())
        ids = (seen.read_done, seen.write_done)
        finished = [self._engine(one) for one in ids if one is not None]
        for engine in finished:
            self._under_way[engine] = max(self._under_way[engine] - 1, 0)
        for engine in dict.fromkeys(finished):
            if not self._under_way[engine]:
                yield BusOperation(OperationKind.SYNC, engine)

    def _engine(self, number: int) -> int:
        return number % self._params.engines

    def _tag(self) -> int:
        """Number of a burst, from 0 on."""
        tag = self._bursts % (1 << self._params.tag_bits)
        self._bursts += 1
        return tag
