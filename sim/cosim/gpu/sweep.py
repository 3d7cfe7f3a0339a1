"""Launch's sweep over the metadata, and the back door that skips it.

A launch writes every metadata entry, one a cycle in each bank.  For a large region this would take
a simulator minutes to years, so the testbench presets its sparse memory, and makes each port's
initialisation engine jump over most of it: the engine writes the first segments, those around each
power of two, where all bits of its index change, and the last.
"""

from __future__ import annotations

from itertools import count

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region import port_of
from racetrap.golden_model.gpu.region_table import MonitoredRegion, regions_of
from racetrap.rtl.gpu.init_engine import engine_index_bits

#: Instance of a bank's engine in the system, its next index, and the flag that rises as it begins.
ENGINE = "bank_{}.accessor.init"
INDEX, BEGUN = "index", "o_busy"

#: Maximum entries written at a launch in simulation: about a second in the fast one.
_MOST_SWEPT = 1 << 16
#: Segments that each port writes before and after each power of two in a larger region.
_NEAR = 3


def is_swept(params: GpuParams, region: MonitoredRegion) -> bool:
    """Whether the hardware itself writes every entry of a region, being small or on chip."""
    return bool(params.local_bytes) or region.entries(params) <= _MOST_SWEPT


def sweep_jumps(
    params: GpuParams, region: MonitoredRegion, port: int
) -> tuple[list[tuple[int, int]], list[int]]:
    """Where a port's engine jumps in a large region, and what it writes nevertheless.

    Returns
    -------
    list of (int, int)
        Indices of the engine at which it jumps, in order, and those that it jumps to.
    list of int
        Segments that it writes, counted from the region's lowest metadata.
    """
    jumps: list[tuple[int, int]] = []
    written: list[int] = []
    regions = regions_of(region) if params.regions > 1 else [region]
    for number, one in enumerate(regions):
        above = number << index_width(params) - (params.regions - 1).bit_length()
        base = (one.metadata_base - region.metadata_base) // params.segment_bytes
        before: int | None = None
        for segment in _near_powers(params, one.entries(params) // params.words_per_cycle, port):
            written.append(base + segment)
            if before is not None and (after := _next_segment(params, before, port)) != segment:
                jumps.append((above | after, above | segment))
            before = segment
    return jumps, written


def _near_powers(params: GpuParams, segments: int, port: int) -> list[int]:
    """A port's segments that are first, last or near a power of two, of those without a bit in a
    table of valid segments."""
    first, near = params.valid_share << params.port_shift, _NEAR * params.metadata_ports
    middles = {first, segments, *(1 << bit for bit in range(segments.bit_length()))}
    found = {
        segment
        for middle in middles
        for segment in range(max(first, middle - near), min(segments, middle + near))
    }
    return sorted(segment for segment in found if port_of(params, segment) == port)


def _next_segment(params: GpuParams, segment: int, port: int) -> int:
    return next(each for each in count(segment + 1) if port_of(params, each) == port)


def index_width(params: GpuParams) -> int:
    """Bits of the engine's index."""
    return engine_index_bits(params)
