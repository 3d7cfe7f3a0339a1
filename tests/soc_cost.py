"""Hardware cost of the example system's own parts.

``python -m tests.soc_cost [SEEDS [BLOCK ...]]`` synthesises each, or those that are named, for an
ECP5, places it with the seeds 1 to SEEDS (1 unless given), and prints the rows of a table.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial

from racetrap.fpga.cost.measure import Target, measured
from racetrap.fpga.cost.table import Cost
from racetrap.rtl.common.hardware_block import HardwareBlock
from racetrap.rtl.noncoherent.taps.last_stage import LastStage
from racetrap.rtl.noncoherent.taps.rvfi_tap import RvfiTap
from racetrap.rtl.soc.cache import Cache
from racetrap.rtl.soc.dma_engine import DmaEngine
from racetrap.rtl.soc.memory_arbiter import MemoryArbiter
from racetrap.rtl.soc.params import SocParams

_TARGET = Target("ecp5")
_MHZ = 100.0


def blocks() -> list[HardwareBlock]:
    """Parts of the system, as it is, and its cache with more ways."""
    system = SocParams()
    caches = (replace(system.cache, ways=ways) for ways in (1, 2, 4))
    return [
        *(HardwareBlock(f"cache_ways_{each.ways}", partial(Cache, each), 1) for each in caches),
        HardwareBlock("rvfi_tap", partial(RvfiTap, system.taps), 1),
        HardwareBlock("last_stage", LastStage, 1),
        HardwareBlock("dma_engine", DmaEngine, 1),
        HardwareBlock("memory_arbiter", MemoryArbiter, 1),
    ]


def rows(seeds: int, names: Collection[str] = ()) -> Iterator[str]:
    """A row of each part, or of those with these names: look-up tables without and with carry
    chains and LUT RAM, flip-flops, block RAMs, clock."""
    for block in blocks():
        if names and block.name not in names:
            continue
        start = Cost(_TARGET.found.device.name)
        *_, cost = measured(start, block, _TARGET.found, range(1, seeds + 1), _MHZ, 0)
        found, clock = cost.synthesis, cost.fmax
        assert found is not None
        speed = f"{clock.median:.1f} MHz, {clock.low:.1f} to {clock.high:.1f}" if clock else "-"
        yield (
            f"| `{block.name}` | {found.cells['LUT4']:,} LUT4; {found.lut:,} | {found.ff:,} FF | "
            f"{found.block_ram} DP16KD | {speed} |"
        )


if __name__ == "__main__":
    for row in rows(int((sys.argv[1:] or ["1"])[0]), sys.argv[2:]):
        print(row, flush=True)
