"""Systems whose access buffers leave accesses out agree with the golden model in every step."""

from dataclasses import replace

import pytest

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

_TINY = find_preset("scord-tiny").params
#: With what else `make test` has no other system of: a table of regions, two words a cycle, and two
#: fences.
_DROP = replace(
    _TINY, access_buffer_depth=3, access_policy="drop", regions=3, banks=2, words_per_cycle=2,
    fence_lanes=2,
)  # fmt: skip
_OTHERS = (
    replace(_TINY, access_buffer_depth=2, access_policy="sample", sample_log2=1),
    replace(_TINY, access_buffer_depth=5, granularity=16, access_policy="sample", sample_log2=3),
    replace(_TINY, access_buffer_depth=8),
    replace(_TINY, access_buffer_depth=1, access_policy="drop", banks=8, words_per_cycle=8),
)
_REGION = Region(data_base=1 << 13, size_log2=13, metadata_base=0x8000)
_TABLE = RegionTable((LineRegion(0x2080, 1, 0x8040), LineRegion(0x2100, 63, 0x8080)))
_TIMINGS = (
    MemoryTiming(watchdog=5000),
    MemoryTiming(
        watchdog=5000, latency=40, jitter=9, reorder=True, back_pressure=30, read_errors=3000
    ),
)


def _compare(model, instructions=150):
    """Launches of all sorts of traffic; accesses left out, and coverage of what was."""
    coverage, left_out = Coverage(model.params), 0
    region = _REGION if model.params.regions == 1 else _TABLE
    # A buffer of one place is full behind a barrier, and drops what would be waited for.
    orders = (False, True) if model.params.access_buffer_depth > 1 else (False,)
    for timing in _TIMINGS:
        with FastSim(model, seed=5, timing=timing) as sim:
            for seed, knobs in enumerate(KNOBS.values()):
                for in_order in orders:
                    events = random_events(model.params, region, knobs, seed, instructions)
                    coverage.launch(region)
                    played = list(transactions_of(events, model.params))
                    result = check_launch(
                        sim, model.params, region, played,
                        in_order=in_order, capacity_log2=4, observer=coverage,
                    )  # fmt: skip
                    assert result.accesses > 0
                    counters = sim.counters()
                    left = counters.get("accesses_left_out", 0)
                    if model.params.access_policy == "drop" and in_order:
                        assert left == 0
                    left_out += left
    return left_out, coverage


def _missed_bins(coverage):
    names = (name for name in coverage.counts if name.startswith("access.left_out"))
    return {name for name in names if not coverage.counts[name]}


def test_dropping_system_agrees():
    left_out, coverage = _compare(build_fast("scord-tiny", _DROP))
    assert left_out > 1000
    assert not _missed_bins(coverage)


@pytest.mark.campaign
@pytest.mark.parametrize("params", _OTHERS, ids=lambda params: str(params.access_policy))
def test_other_policies_agree(params):
    left_out, coverage = _compare(build_fast("scord-tiny", params))
    assert (left_out > 1000) == params.leaves_out
    assert not _missed_bins(coverage)


_PLANTED = {
    "what is left out is not counted": Patch(
        "scord/system.py", "total(self._left_out(m))", "0"
    ),
    "a warp goes on while its fence is in the tracker": Patch(
        "scord/system.py", "fencing = fencing | m", "fencing = m"
    ),
    "a warp goes on while its fence is in the buffer": Patch(
        "scord/system.py", "fencing = fencing | m", "_ = m"
    ),
    "a fence is dropped": Patch(
        "scord/access_buffer.py",
        "transaction.kind == TransactionKind.LOAD",
        "(transaction.kind == TransactionKind.LOAD) | (transaction.kind == TransactionKind.FENCE)",
    ),
}  # fmt: skip


@pytest.mark.campaign
@pytest.mark.parametrize("name", _PLANTED)
def test_planted_bug_is_found(name):
    model = build_fast("scord-tiny", _DROP, _PLANTED[name])
    with pytest.raises((Mismatch, SimulationError)):
        _compare(model)
