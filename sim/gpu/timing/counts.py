"""Counts of a run of the timing model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TimingCounts:
    """Result of a run.

    Parameters
    ----------
    cycles, instructions : int
        Core cycles, and warp instructions.
    l1_loads, l1_hits, l1_merges : int
        Segments that loads look up in L1 caches; found; already in flight.
    packets_injected, packets_ejected, flits, injection_waits : int
        Packets from the SMs, at their end and at the other; flits of them; cycles for which load
        and store units wait for the injection queue.
    l2_requests, l2_hits, l2_merges, l2_misses, l2_fills, l2_writes_through : int
        Requests at L2 slices, and what becomes of them.
    replies, delivered : int
        Packets to the SMs, at both ends.
    checks, checks_merged : int
        Segments of metadata that accesses need, and those already in flight.
    transactions, detector_waits : int
        What SMs tell a detector with cycles of its own; cycles for which a port of theirs waits.
    data_reads, data_writes, metadata_reads, metadata_writes, dram_activates : int
        DRAM accesses of a segment, and rows opened.
    """

    cycles: int
    instructions: int
    l1_loads: int
    l1_hits: int
    l1_merges: int
    packets_injected: int
    packets_ejected: int
    flits: int
    injection_waits: int
    l2_requests: int
    l2_hits: int
    l2_merges: int
    l2_misses: int
    l2_fills: int
    l2_writes_through: int
    replies: int
    delivered: int
    checks: int
    checks_merged: int
    transactions: int
    detector_waits: int
    data_reads: int
    data_writes: int
    metadata_reads: int
    metadata_writes: int
    dram_activates: int

    @property
    def dram_accesses(self) -> int:
        """Reads and writes of data and metadata."""
        return self.data_reads + self.data_writes + self.metadata_reads + self.metadata_writes
