"""Table of valid segments: a launch clears it instead of writing their metadata.

Ref: ScoRD (ISCA'20) Section IV (metadata are reset at kernel launch; the table is our addition).
"""

from __future__ import annotations

from collections.abc import Collection

from racetrap.golden_model.gpu.params import VALID_ROW_BITS, GpuParams
from racetrap.golden_model.gpu.region_table import MonitoredRegion, RegionTable


def clearing_cycles(params: GpuParams) -> int:
    """Cycles in which a launch clears the table: a row each."""
    return params.valid_segments // VALID_ROW_BITS


def is_covered(params: GpuParams, region: MonitoredRegion) -> bool:
    """Whether every segment has a bit, so that a launch writes no metadata."""
    of_regions = region.regions if isinstance(region, RegionTable) else [region]
    segments = max(one.entries(params) for one in of_regions) // params.words_per_cycle
    return segments >> params.port_shift <= params.valid_share


def valid_bit(params: GpuParams, region: MonitoredRegion, index: int) -> int | None:
    """Bit of an entry's segment in its port's table, by the entry's index.

    Each region has as many bits, for its first segments; the others have none, and a launch writes
    their entries.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    region : MonitoredRegion
        Monitored region, or table of regions.
    index : int
        Index of the entry.
    """
    number, within = region.numbered(params, index)
    bit = within // params.words_per_cycle >> params.port_shift
    share = params.valid_share
    return number * share + bit if bit < share else None


def is_written(
    params: GpuParams, region: MonitoredRegion, index: int, claimed: Collection[int]
) -> bool:
    """Whether an entry in memory has been written since the launch.

    Parameters
    ----------
    params : GpuParams
        Configuration.
    region : MonitoredRegion
        Monitored region, or table of regions.
    index : int
        Index of the entry.
    claimed : collection of int
        Segments that have been accessed, by index: their entries are all written.
    """
    is_claimed = index // params.words_per_cycle in claimed
    return is_claimed or valid_bit(params, region, index) is None
