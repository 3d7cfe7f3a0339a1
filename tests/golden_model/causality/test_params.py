"""Parameters of causality: widths that follow, and configurations that are refused."""

import pytest

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.gpu.region import Region


def test_entry_of_the_largest_gpus_fits():
    for size in ((80, 32, 64), (108, 32, 64)):
        sm_count, blocks_per_sm, warps_per_sm = size
        params = CausalityParams(
            sm_count=sm_count, blocks_per_sm=blocks_per_sm, warps_per_sm=warps_per_sm
        )
        assert params.entry_layout_bits <= params.entry_layout.width == 128


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {
                "sm_count": 255, "blocks_per_sm": 32, "warps_per_sm": 64, "clock_bits": 16,
                "epoch_bits": 4, "ratio": 64,
            },
            "must fit in 128 bits.*reduce sm_count",
        ),
        ({"clock_bits": 2}, "clock_bits must be .*3"),
        ({"clock_bits": 17}, "clock_bits must be .*16"),
        ({"epoch_bits": 0}, "epoch_bits must be .*1"),
        ({"hash_bits": 3}, "hash_bits must be a power of two"),
        ({"hash_bits": 2048}, "hash_bits must be .*1024"),
        ({"known": -1}, "known must be .*0"),
        ({"levels": 33}, "levels must be .*32"),
        ({"records": 33}, "records must be .*32"),
        ({"undecided": 33}, "undecided must be .*32"),
        ({"ratio": 3}, "ratio must be a power of two"),
        ({"ratio": 128}, "ratio must be .*64"),
        ({"banks": 3}, "banks must be a power of two"),
        ({"shared_bytes": 100}, "shared_bytes must be 0 or a power of two of at least 128"),
        ({"shared_bytes": 64, "banks": 1}, "at least 128"),
        ({"shared_bytes": 128, "banks": 2}, "at least 256"),
        ({"address_bits": 16}, "shared_bytes must leave room for the window in 16 address bits"),
        ({"independent_threads": 1}, "independent_threads must be true or false"),
    ],
)  # fmt: skip
def test_configuration_is_refused(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        CausalityParams(**settings)


@pytest.mark.parametrize(
    ("ratio", "shared_bytes", "overhead"), [(1, 0, 4), (1, 4096, 8), (32, 0, 0.125)]
)
def test_metadata_take_their_share(ratio, shared_bytes, overhead):
    params = CausalityParams(ratio=ratio, shared_bytes=shared_bytes)
    assert params.metadata_overhead == overhead


def test_smallest_region_has_as_many_entries_as_the_window_has_words():
    params = CausalityParams(sm_count=2, blocks_per_sm=2, shared_bytes=4096, ratio=32)
    least = params.min_region_log2
    assert 1 << least == 2 * 2 * 4096
    Region(0, least).check(params)
    with pytest.raises(ValueError, match="Region size must be"):
        Region(0, least - 1).check(params)


@pytest.mark.parametrize(("count", "bits"), [(1, 1), (3, 2), (4, 2), (5, 3)])
def test_numbers_of_slots_are_as_wide_as_they_must_be(count, bits):
    params = CausalityParams(sm_count=count, blocks_per_sm=count, warps_per_sm=count)
    assert (params.sm_bits, params.slot_bits, params.warp_bits) == (bits, bits, bits)
    numbers = {params.warp_id(sm, warp) for sm in range(count) for warp in range(count)}
    assert len(numbers) == count * count
    assert max(numbers) < 1 << params.slot_warp_bits


@pytest.mark.parametrize("hash_bits", [1, 2, 64, 1024])
def test_every_block_slot_has_one_bit(hash_bits):
    params = CausalityParams(sm_count=15, blocks_per_sm=8, hash_bits=hash_bits)
    bits = {params.hash_of(params.block_id(sm, slot)) for sm in range(15) for slot in range(8)}
    assert [bit for bit in bits if not (bit.bit_count() == 1 and bit >> hash_bits == 0)] == []
    assert len(bits) == min(hash_bits, 7 * 14 + 8)


def test_last_clock_leaves_room_for_what_one_event_adds():
    assert CausalityParams(clock_bits=3).last_clock == 5
    assert CausalityParams().last_clock == 4093
