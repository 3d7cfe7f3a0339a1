"""Plans for the random testbenches: what stimulus and what memory behaviour."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from racetrap.golden_model.gpu.params import LINE_BYTES
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.region_table import MonitoredRegion, table_of
from racetrap.golden_model.scord.params import ScordParams

#: Changes of scord-tiny, one build of several tests: two banks, so that the interconnect matters;
#: room for reports, so that few are dropped.
TWO_BANKS = {"banks": 2, "report_fifo_depth": 64, "slot_generation_bits": 2}
_DATA_BASE = 0x1_0000
_METADATA_BASE = 0x1_0000


def random_plan(
    params: ScordParams,
    knobs: list[str],
    instructions: int,
    memory: dict[str, Any],
    size_log2: int = 12,
) -> dict[str, Any]:
    """Plan with one launch for each knob preset, every other one with the report filter.

    A table of regions has one of a single line, the next right behind it, all others apart.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    knobs : list of str
        Knob presets of ``racetrap.sim.cosim.scord.knobs``.
    instructions : int
        Instructions of each launch.
    memory : dict
        ``fast_memory()`` or ``hard_memory()``, or any keys of the testbench's plan.
    size_log2 : int
        Log2 of the bytes of a region, or of all that have more than a line; brought into what the
        configuration can monitor.
    """
    launches = [
        {"knobs": name, "instructions": instructions, "report_filter": bool(number % 2)}
        for number, name in enumerate(knobs)
    ]
    return {"region": asdict(_region(params, size_log2)), "launches": launches, **memory}


def _region(params: ScordParams, size_log2: int) -> MonitoredRegion:
    if params.regions == 1:
        size = min(max(size_log2, params.min_region_log2), params.max_region_log2)
        return Region(_DATA_BASE >> size << size, size, _METADATA_BASE)
    lines = (1 << size_log2) // LINE_BYTES // params.regions | 1
    others = range(1, 2 * lines * (params.regions - 1), 2 * lines)
    parts = [(_DATA_BASE, 1), *((_DATA_BASE + line * LINE_BYTES, lines) for line in others)]
    return table_of(params, parts, _METADATA_BASE)
