"""Entries of words, in global memory and in the window of shared memory."""

import pytest

from racetrap.golden_model.causality.packets import Packet, PacketKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.gpu.entry_locator import locate
from racetrap.golden_model.gpu.region import Region

SIZES = {"sm_count": 2, "blocks_per_sm": 2, "warps_per_sm": 4}


def packet(word: int, block: int = 0, shared: int = 0) -> Packet:
    names = dict.fromkeys(Packet._fields, 0)
    return Packet(**names | {"kind": PacketKind.LOAD, "word": word, "block": block,
                             "shared": shared})  # fmt: skip


@pytest.mark.parametrize("ratio", [1, 2, 32, 64])
@pytest.mark.parametrize("shared_bytes", [0, 256])
def test_every_word_has_an_entry_and_a_tag_of_its_own(ratio, shared_bytes):
    params = CausalityParams(**SIZES, ratio=ratio, shared_bytes=shared_bytes)
    region = Region(1 << 13, max(11, params.min_region_log2))
    words = range(region.data_base // 4, (region.data_base >> 2) + (1 << region.size_log2 - 2))
    places = [locate(params, region, packet(word)) for word in words]
    entries = region.entries(params)
    if shared_bytes:
        places += [
            locate(params, region, packet(word, params.block_id(sm, slot), 1))
            for sm in range(2) for slot in range(2) for word in range(shared_bytes // 4)
        ]  # fmt: skip
    assert None not in places
    assert len(set(places)) == len(places)
    assert {place[0] for place in places if place} <= set(range(entries))
    assert {place[1] for place in places if place} <= set(range(ratio))


@pytest.mark.parametrize("distance", [-1, 0, 1])
def test_word_outside_of_region_or_window_has_none(distance):
    params = CausalityParams(**SIZES, ratio=2, shared_bytes=256)
    region = Region(1 << 13, 12)
    end = (region.data_base + (1 << region.size_log2)) // 4
    assert (locate(params, region, packet(end + distance)) is None) == (distance >= 0)
    start = region.data_base // 4
    assert (locate(params, region, packet(start + distance)) is None) == (distance < 0)
    assert (locate(params, region, packet(64 + distance, 1, 1)) is None) == (distance >= 0)


def test_shared_memory_that_is_not_watched_has_none():
    params = CausalityParams(**SIZES, shared_bytes=0)
    assert locate(params, Region(0, 12), packet(0, 0, 1)) is None
