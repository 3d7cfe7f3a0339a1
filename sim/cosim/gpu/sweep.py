"""Launch's sweep over the metadata, and the back door that skips it.

A launch writes every metadata entry, one a cycle in each bank.  For a large region this would take
a simulator minutes to years, so the testbench presets its sparse memory, and makes each bank's
initialisation engine begin at its last entry.
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


def is_swept(params: GpuParams, region: MonitoredRegion) -> bool:
    """Whether the hardware itself writes every entry of a region, being small or on chip."""
    return bool(params.local_bytes) or region.entries(params) <= _MOST_SWEPT


def last_index(params: GpuParams, region: MonitoredRegion, port: int) -> int:
    """Engine's index of the last segment that a port's engine writes."""
    if params.regions == 1:
        return _last_segment(params, region.entries(params), port)
    number, last = [(n, one) for n, one in enumerate(regions_of(region)) if one.lines][-1]
    index = _last_segment(params, last.entries(params), port)
    return number << index_width(params) - (params.regions - 1).bit_length() | index


def _last_segment(params: GpuParams, entries: int, port: int) -> int:
    segments = entries // params.words_per_cycle
    return segments - 1 - next(n for n in count() if port_of(params, segments - 1 - n) == port)


def index_width(params: GpuParams) -> int:
    """Bits of the engine's index."""
    return engine_index_bits(params)
