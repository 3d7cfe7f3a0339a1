"""The model of ScoRD's cycles does in each cycle what the hardware does."""

from contextlib import ExitStack
from dataclasses import replace
from random import Random

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.packets import TransactionKind
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.scord import cycle_model
from racetrap.sim.cosim.scord.cycle_compare import check_cycles
from racetrap.sim.cosim.scord.cycle_model import CycleModel
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from tests.support.scord.cycle_bugs import BUGS, with_bug

#: Configurations besides the preset, and launches of each.
_OTHERS = {
    "two lanes": ({"banks": 2, "words_per_cycle": 2, "fence_lanes": 2}, 100),
    "eight lanes": ({"banks": 16, "words_per_cycle": 8, "fence_lanes": 2, "outstanding": 16}, 100),
    "three ports": ({"banks": 3, "packet_fifo_depth": 2, "ratio": 16}, 100),
    "24 ports": ({"banks": 24, "outstanding": 4}, 50),
    "no merging": ({"merge_in_flight": False, "banks": 4, "sm_count": 5, "fence_lanes": 4}, 100),
    "granules": ({"granularity": 16, "warps_per_sm": 2, "slot_generation_bits": 2}, 100),
    "SRAM macros": ({"macro_words": 2, "banks": 2, "outstanding": 16}, 100),
    "flip-flops for arrays": ({"macro_words": 1 << 16}, 50),
    "protection": ({"protection": True}, 50),
    "one warp": ({"warps_per_sm": 1, "blocks_per_sm": 1, "packet_fifo_depth": 3}, 100),
}


def _region(random, params):
    size = random.randint(params.min_region_log2, params.min_region_log2 + 4)
    base = params.segment_bytes * random.randrange(1000)
    return Region(random.randrange(16) << size, size, base)


def _timing(random):
    return MemoryTiming(
        idle_percent=random.choice((0, 0, 20, 60)), latency=random.choice((1, 1, 2, 4, 16, 60)),
        jitter=random.choice((0, 0, 3, 30)), reorder=random.random() < 0.5,
        back_pressure=random.choice((0, 0, 10, 50)),
    )  # fmt: skip


def _launches(model, seed, count, instructions):
    """Play launches on hardware and model; the steps of each."""
    print(f"seed {seed}")
    params, random = model.params, Random(seed)
    with ExitStack() as stack:
        sim = stack.enter_context(FastSim(model, seed))
        own = stack.enter_context(CycleModel(params, _region(random, params)))
        for _ in range(count):
            region, knobs = _region(random, params), random.choice(list(KNOBS.values()))
            events = random_events(params, region, knobs, random.getrandbits(32), instructions)
            counts = check_cycles(
                sim, own, params, region, transactions_of(events, params), _timing(random),
                random.getrandbits(32),
            )  # fmt: skip
            yield counts.steps


def test_model_and_hardware_agree(scord_tiny):
    assert sum(_launches(scord_tiny, seed=1, count=8, instructions=100)) > 2000


def test_a_difference_is_named(scord_tiny, monkeypatch):
    """A model that has other metadata than the hardware, from the first write on."""
    params, region = scord_tiny.params, Region(0, 12, 64)
    real = CycleModel.launch
    monkeypatch.setattr(
        CycleModel, "launch", lambda self, region: real(self, replace(region, metadata_base=0))
    )
    events = random_events(params, region, KNOBS["mixed"], 1, 20)
    with (
        FastSim(scord_tiny, 1) as sim,
        CycleModel(params, region) as own,
        pytest.raises(Mismatch, match=r"Metadata port 0, cycle \d+, .* the hardware"),
    ):
        check_cycles(sim, own, params, region, transactions_of(events, params), MemoryTiming(), 1)


@pytest.mark.parametrize(
    ("name", "value"), [("access_buffer_depth", 2), ("regions", 2), ("local_bytes", 4096)]
)
def test_what_the_model_lacks_is_refused(name, value):
    params = replace(find_preset("scord-tiny").params, **{name: value})
    with pytest.raises(ValueError, match=f"{name} must be"):
        CycleModel(params, Region(0, 12, 0))


@pytest.mark.campaign
@pytest.mark.parametrize("part", range(10))
def test_a_thousand_launches_agree(scord_tiny, part):
    steps = [each for n in range(10)
             for each in _launches(scord_tiny, 100 * part + n, 10, 150)]  # fmt: skip
    assert len(steps) == 100
    assert sum(steps) > 20_000


@pytest.mark.campaign
@pytest.mark.parametrize("name", _OTHERS)
def test_other_configurations_agree(name):
    settings, count = _OTHERS[name]
    params = replace(find_preset("scord-tiny").params, **settings)
    model = build_fast("scord-tiny", params)
    steps = [each for n in range(count // 10) for each in _launches(model, n, 10, 100)]
    assert len(steps) == count
    assert sum(steps) > 5_000


@pytest.mark.campaign
@pytest.mark.parametrize("ports", [1, 24])
def test_wide_preset_agrees(ports):
    """Also with a port for each slice of the paper's L2: 98 MiB of C++."""
    params = replace(find_preset("scord-wide").params, banks=8 * ports)
    model = build_fast("scord-wide", params)
    steps = [each for n in range(5) for each in _launches(model, n, 4, 60)]
    assert len(steps) == 20
    assert sum(steps) > 5_000


def _play_many(model):
    """Sixty launches; a bug may need more than one."""
    for seed in range(20):
        assert sum(_launches(model, seed, 3, 150)) > 0


@pytest.mark.campaign
@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_found(name, scord_tiny, tmp_path, monkeypatch):
    bug = BUGS[name]
    model = build_fast("scord-tiny", replace(scord_tiny.params, **bug.settings))
    monkeypatch.setattr(cycle_model, "_FOLDER", with_bug(bug, tmp_path))
    monkeypatch.setattr(cycle_model, "_OPTIONS", ("-std=c++20", "-O1", "-Wno-error"))
    cycle_model._library.cache_clear()
    try:
        with pytest.raises((Mismatch, RuntimeError)):
            _play_many(model)
    finally:
        cycle_model._library.cache_clear()


def test_every_kind_of_transaction_is_played(scord_tiny):
    params, region = scord_tiny.params, Region(0, 12, 0)
    kinds = {
        transaction.kind
        for knobs in KNOBS.values()
        for _, transaction in transactions_of(random_events(params, region, knobs, 1, 100), params)
    }
    assert kinds == set(TransactionKind)
