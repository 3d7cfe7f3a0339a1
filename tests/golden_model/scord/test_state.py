"""State as the paper counts it."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.state import state_bits


def test_default_state_is_the_papers():
    bits = state_bits(ScordParams())
    assert (bits["barrier_ids"] + bits["lock_tables"]) / 8 / 15 == 152
    assert bits["fence_files"] / 8 == 720
    assert sum(bits.values()) / 8 == 3000  # "about 2.9 KB"


@pytest.mark.parametrize(
    ("granularity", "ratio", "overhead"), [(4, 16, 0.125), (4, 1, 2.0), (8, 1, 1.0), (16, 1, 0.5)]
)
def test_metadata_overhead_is_the_papers(granularity, ratio, overhead):
    params = ScordParams(granularity=granularity, ratio=ratio)
    assert params.metadata_overhead == overhead


@pytest.mark.parametrize("bits", [0, 1, 6])
def test_each_block_slot_has_a_generation(bits):
    params = ScordParams(slot_generation_bits=bits)
    assert state_bits(params)["generations"] == 15 * 8 * bits


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"slot_generation_bits": 7}, "not 65 .*slot_generation_bits"),
        ({"slot_generation_bits": 9, "ratio": 1}, "from 0 to 8, not 9"),
        ({"slot_generation_bits": -1}, "from 0 to 8, not -1"),
        ({"slot_generation_bits": 1, "sm_count": 128, "blocks_per_sm": 32, "warps_per_sm": 64},
         "not 65"),
    ],
)  # fmt: skip
def test_a_generation_must_fit_in_the_entry(settings, words):
    with pytest.raises(ValueError, match=words):
        ScordParams(**settings)


def test_each_metadata_port_has_a_fence_file():
    assert state_bits(ScordParams(banks=4))["fence_files"] == 4 * 5760
    assert state_bits(ScordParams(banks=8, words_per_cycle=4))["fence_files"] == 2 * 5760


@pytest.mark.parametrize(("preset", "kilobytes"), [("scord-v100", 520), ("scord-a100", 870)])
def test_state_for_real_gpus(preset, kilobytes):
    assert (
        0.99 * kilobytes < sum(state_bits(find_preset(preset).params).values()) / 8000 <= kilobytes
    )


@pytest.mark.parametrize(
    "settings",
    [
        # NVIDIA's A100 with a port at each L2 slice, and the SMs of a full GH100.
        {"sm_count": 108, "banks": 80},
        {"sm_count": 108, "banks": 640, "words_per_cycle": 8},
        {"sm_count": 144, "banks": 96, "barrier_id_bits": 7},
        {"sm_count": 144, "banks": 32, "ratio": 8},
    ],
    ids=str,
)
def test_entry_of_a_real_gpu_is_full(settings):
    params = ScordParams(blocks_per_sm=32, warps_per_sm=64, **settings)
    assert params.entry_layout_bits == 64
    assert params.entry_layout.width == 64
    with pytest.raises(ValueError, match="Metadata entry must fit in 64 bits, not 65"):
        replace(params, ratio=2 * params.ratio)
