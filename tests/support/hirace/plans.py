"""Plans for the random testbench."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from racetrap.generators.presets import find_preset
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.params import HiraceParams

#: Four banks, so that the interconnect matters, each with room for an access a cycle: one build of
#: several tests.
DEEP_BANKS = replace(find_preset("hirace-tiny").params, banks=4, outstanding=32)
_DATA_BASE = 0x1_0000
_METADATA_BASE = 0x1_0000


def random_plan(
    params: HiraceParams, styles: list[str], instructions: int, memory: dict[str, Any]
) -> dict[str, Any]:
    """Plan with one launch for each style, every other one with the report filter."""
    size = max(12, params.min_region_log2)
    launches = [
        {"style": name, "instructions": instructions, "report_filter": bool(number % 2)}
        for number, name in enumerate(styles)
    ]
    region = Region(_DATA_BASE >> size << size, size, _METADATA_BASE)
    return {"region": asdict(region), "launches": launches, **memory}
