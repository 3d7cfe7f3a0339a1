"""The tiles of ScoRD, joined: as the golden model under any delay."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.generators.scord import SCORD
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.params import AccessPolicy
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.gpu.tiles import build_tiles
from racetrap.sim.cosim.scord.fast_compare import check_launch
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from tests.support.rtl.ready_paths import valid_to_ready_paths

#: Longer than responses take through all queues.
_LATE = 50_000
_REGION = Region(data_base=1 << 13, size_log2=13, metadata_base=0x8000)
_FOUR = replace(find_preset("scord-tiny").params, sm_count=4, banks=4)
#: Four SMs and four slices, with what else a configuration may have.
_SIZES = {
    "plain": _FOUR,
    "lanes": replace(_FOUR, banks=8, words_per_cycle=2, fence_lanes=4, slot_generation_bits=2),
    "buffers": replace(_FOUR, access_buffer_depth=4, access_policy=AccessPolicy.DROP),
    "local": replace(_FOUR, local_bytes=1 << 13),
}
_TIMINGS = (
    MemoryTiming(watchdog=100_000),
    MemoryTiming(idle_percent=40, latency=9, jitter=25, reorder=True, back_pressure=30,
                 watchdog=100_000),
    MemoryTiming(jitter=5, reorder=True, read_errors=3000, write_errors=3000, watchdog=100_000),
)  # fmt: skip


def _play(model, seeds, instructions, timing=_TIMINGS[0]):
    """Launches one after the other on a fresh system; accesses that were compared."""
    accesses = 0
    with FastSim(model, seed=seeds[0], timing=timing) as sim:
        for seed in seeds:
            knobs = KNOBS[[*KNOBS][seed % len(KNOBS)]]
            events = random_events(model.params, _REGION, knobs, seed, instructions)
            played = list(transactions_of(events, model.params))
            result = check_launch(
                sim, model.params, _REGION, played, capacity_log2=6, late_cycles=_LATE
            )
            accesses += result.accesses
    return accesses


@pytest.mark.campaign
@pytest.mark.parametrize("size", _SIZES)
def test_tiles_agree_with_the_golden_model_under_random_delays(size):
    model = build_tiles("scord-tiny", _SIZES[size])
    for number, timing in enumerate(_TIMINGS):
        seeds = range(100 * number, 100 * number + 2 * len(KNOBS))
        # Buffers may drop more than half.
        assert _play(model, seeds, 400, timing) > 4_000


@pytest.mark.campaign
@pytest.mark.parametrize("part", SCORD.parts)
def test_no_ready_depends_on_a_valid(part):
    assert not valid_to_ready_paths(SCORD.parts[part](_SIZES["lanes"]))
