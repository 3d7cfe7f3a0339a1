"""Launches with a table of regions: every step and entry agree, and planted bugs are found."""

from dataclasses import replace
from random import Random

import pytest

from racetrap.evaluation.scord.campaign import _table
from racetrap.generators.presets import find_preset
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.region_table import LineRegion, RegionTable
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.scord.coverage import Coverage
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from racetrap.sim.cosim.verilator.patch import Patch

pytestmark = pytest.mark.campaign

_PARAMS = replace(find_preset("scord-tiny").params, regions=3)
_TABLES = [
    # A power of two, as an instance with one region takes it.
    Region(1 << 13, 13, 0x8000),
    # One line; neighbours in data and in metadata; the lowest data with the highest metadata.
    RegionTable((LineRegion(0x2080, 1, 0x8040), LineRegion(0x2100, 33, 0x8080))),
    RegionTable((LineRegion(0x4000, 7, 0x100), LineRegion(), LineRegion(0x80, 9, 0x9008))),
]
_TIMINGS = [
    MemoryTiming(watchdog=5000),
    MemoryTiming(watchdog=5000, idle_percent=40, latency=9, jitter=25, reorder=True),
    MemoryTiming(watchdog=5000, jitter=5, reorder=True, read_errors=3000, write_errors=3000),
]


def _compare(model, tables=_TABLES, instructions=150, coverage=None):
    accesses = 0
    for number, table in enumerate(tables):
        with FastSim(model, seed=5, timing=_TIMINGS[number % 3]) as sim:
            for seed, knobs in enumerate(KNOBS.values()):
                events = random_events(model.params, table, knobs, seed, instructions)
                if coverage is not None:
                    coverage.launch(table)
                result = check_launch(
                    sim, model.params, table, transactions_of(events, model.params),
                    in_order=bool(seed % 2), capacity_log2=4, observer=coverage,
                )  # fmt: skip
                accesses += result.accesses
    return accesses


def test_hardware_agrees():
    coverage = Coverage(_PARAMS)
    assert _compare(build_fast("scord-tiny", _PARAMS), coverage=coverage) > 10_000
    for line in ("first", "inner", "last"):
        assert coverage.counts[f"region.{line}_line"] > 100, line


@pytest.mark.parametrize(
    "settings",
    [
        {"banks": 4, "ratio": 1, "regions": 2},
        {"banks": 8, "words_per_cycle": 8, "regions": 8},
        {"sm_count": 5, "banks": 6, "words_per_cycle": 2, "fence_lanes": 4},
        {"banks": 3, "granularity": 16, "ratio": 64, "address_bits": 64},
        {"banks": 6, "words_per_cycle": 2, "valid_segments": 256},
    ],
    ids=str,
)
def test_random_tables_agree(settings):
    params = replace(_PARAMS, **settings)
    random = Random(f"tables {settings}")
    tables = [_table(random, params, sweep=False) for _ in range(6)]
    for table in tables:
        table.check(params)
    assert _compare(build_fast("scord-tiny", params), tables) > 10_000


def test_bad_table_is_refused_and_the_one_before_stays():
    model = build_fast("scord-tiny", _PARAMS)
    bad = RegionTable((_TABLES[1].regions[0], replace(_TABLES[1].regions[1], data_base=0x2000)))
    with pytest.raises(ValueError, match="Region 1 overlaps region 0"):
        bad.check(_PARAMS)
    with FastSim(model, seed=5) as sim:
        sim.launch(_TABLES[1])
        with pytest.raises(SimulationError, match="must take the region, not refuse"):
            sim.launch(bad)
        sim.launch(_TABLES[2])


_TABLE = "gpu/region_table.py"
_PLANTED = {
    "last line of a region": Patch(_TABLE, "(line < region.end)", "(line + 1 < region.end)"),
    "line before a region": Patch(
        _TABLE, "(line >= region.first)", "(line + 1 >= region.first)"
    ),
    "metadata base of the neighbour": Patch(
        _TABLE,
        "given.base.eq(one_hot_select(hit, (region.segment for region in self.i_region)))",
        "given.base.eq(self.i_region[0].segment)",
    ),
    "region 1 taken for region 0": Patch(
        _TABLE,
        "given.turns.eq(one_hot_select(hit, (region.turns for region in self.i_region)))",
        "given.turns.eq(self.i_region[0].turns)",
    ),
    "sweep of the first region alone": Patch(
        "gpu/init_engine.py", "sending.eq(number != params.regions - 1)", "sending.eq(0)"
    ),
    "sweep ends early": Patch(
        "gpu/init_engine.py",
        "is_last.eq(following[:bits] >=",
        "is_last.eq(following[:bits] + 1 >=",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _PLANTED)
def test_planted_bug_is_found(name):
    model = build_fast("scord-tiny", _PARAMS, _PLANTED[name])
    with pytest.raises((Mismatch, SimulationError)) as caught:
        _compare(model, instructions=300)
    print(f"{name}: {caught.value}")
