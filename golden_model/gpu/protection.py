"""Bounds in memory of what a GPU detector writes: its metadata, and its ring of reports.

Ref: ScoRD (ISCA'20) Section IV (the host allocates both); bounds are our extension.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region_table import MonitoredRegion


@dataclass(frozen=True)
class Bounds:
    """First and last byte address of what may be written; all of memory by default.

    Parameters
    ----------
    base, limit : int
        The addresses.
    """

    base: int = 0
    limit: int = (1 << 64) - 1

    def check(self, what: str, first: int, end: int) -> None:
        """Raise ``ValueError`` unless the bytes from ``first`` to before ``end`` lie inside."""
        if first < self.base or end > self.limit + 1:
            raise ValueError(
                f"{what} must lie from {self.base:#x} to {self.limit:#x}, "
                f"not from {first:#x} to {end - 1:#x}"
            )


@dataclass(frozen=True)
class MemoryBounds:
    """Bounds of a detector, as its registers have them.

    Parameters
    ----------
    metadata, report : Bounds
        Of metadata, and of the ring of reports.
    """

    metadata: Bounds = field(default_factory=Bounds)
    report: Bounds = field(default_factory=Bounds)

    def check(
        self, params: GpuParams, region: MonitoredRegion, ring_base: int, ring_bytes: int
    ) -> None:
        """Raise ``ValueError`` if the hardware refuses a launch because of the bounds.

        Parameters
        ----------
        params : GpuParams
            Configuration.
        region : MonitoredRegion
            Monitored region with its metadata, legal by itself.
        ring_base, ring_bytes : int
            Byte address of the ring, and its size.
        """
        for first, end in region.metadata_spans(params):
            self.metadata.check("Metadata", first, end)
        self.report.check("Ring", ring_base, ring_base + ring_bytes)
