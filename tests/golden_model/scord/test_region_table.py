"""Region table: where an access' entry is, whose bank it is, and what is refused."""

from collections import defaultdict
from dataclasses import replace

import pytest

from racetrap.golden_model.events import Event, EventKind, Lane
from racetrap.golden_model.gpu.params import ENTRY_BYTES, LINE_BYTES
from racetrap.golden_model.gpu.region import Region, bank_of
from racetrap.golden_model.gpu.region_table import (
    LineRegion,
    RegionTable,
    regions_of,
    table_of,
)
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord

_TWO = ScordParams(regions=2, address_bits=32)
_GOOD = (LineRegion(0x2080, 5, 0x8000), LineRegion(0x2300, 33, 0x9008))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"ratio": 1},
        {"ratio": 64, "granularity": 16},
        {"banks": 4},
        {"banks": 24, "words_per_cycle": 8},
        {"banks": 5, "ratio": 4},
    ],
    ids=str,
)
def test_entry_is_granule_mod_entries_in_the_granules_bank(settings):
    params = replace(_TWO, **settings)
    table = table_of(params, [(0x2080, 5), (0x2300, 1), (0x10000, 700)][:2], 0x8000)
    banks, granules = {}, defaultdict(set)
    for base, size in table.parts:
        for address in range(base, base + size, params.granularity):
            index, tag = table.locate(params, address)
            assert index in table.indices(params)
            assert tag < params.ratio
            assert banks.setdefault(index, bank_of(params, address // 4)) == bank_of(
                params, address // 4
            )
            granules[index, tag].add(address)
    for found in granules.values():
        assert len(found) == 1


@pytest.mark.parametrize("size_log2", [9, 12, 17])
def test_region_of_a_power_of_two_has_the_places_of_a_single_one(size_log2):
    region = Region(3 << size_log2, size_log2, 0x8000)
    table = RegionTable(regions_of(region))
    assert table.entries(_TWO) == region.entries(_TWO)
    for address in range(region.data_base, region.data_base + (1 << size_log2), 4):
        assert table.locate(_TWO, address) == region.locate(_TWO, address)


def test_neighbours_share_nothing():
    """The last word of a region and the first of the next, which follows it at once."""
    table = table_of(_TWO, [(0x1000, 3), (0x1000 + 3 * LINE_BYTES, 2)], 0x8000)
    last, first = (table.locate(_TWO, 0x1000 + 3 * LINE_BYTES + step)[0] for step in (-4, 0))
    # 96 and 64 words, 16 to an entry.
    assert (last, first) == (5, 6)
    assert list(table.indices(_TWO)) == list(range(10))


def test_detector_counts_what_lies_outside():
    scord = Scord(_TWO, RegionTable(_GOOD))
    for address in (0x2080, 0x207C, 0x2080 + 5 * 128 - 4, 0x2080 + 5 * 128 - 4 + 4 * 33 * 128):
        scord.run(Event(EventKind.STORE, size=4, lanes=(Lane(0, address),)))
    assert scord.counters["accesses"] == 2
    assert scord.counters["unmonitored"] == 2


def test_region_that_is_not_used_monitors_nothing():
    table = RegionTable((LineRegion(0x101, 0, 3), _GOOD[0]))
    table.check(_TWO)
    assert not table.contains(0x101)
    assert table.parts == ((0x2080, 5 * LINE_BYTES),)


@pytest.mark.parametrize(
    ("number", "change", "sentence"),
    [
        (0, {"data_base": 0x2040}, "Region 0 base must be a multiple of 128, not 0x2040"),
        (1, {"lines": 1 << 32}, r"Region 1 must be of at most 2\*\*32 - 1 lines, not 4294967296"),
        (1, {"data_base": (1 << 32) - 128}, "Region 1 end must fit in 32 address bits, not 0x1"),
        (0, {"metadata_base": 4}, "Region 0 metadata base must be a multiple of 8, not 0x4"),
        (1, {"metadata_base": (1 << 32) - 8}, "Region 1 metadata end must fit in 32 address bits"),
        (0, {"lines": 6}, "Region 1 overlaps region 0"),
        (1, {"metadata_base": 0x8048}, "Metadata of region 1 overlap those of region 0"),
    ],
)
def test_bad_table_is_refused(number, change, sentence):
    RegionTable(_GOOD).check(_TWO)
    regions = list(_GOOD)
    if change == {"lines": 6}:
        regions[1] = replace(regions[1], data_base=0x2300)
    regions[number] = replace(regions[number], **change)
    with pytest.raises(ValueError, match=sentence):
        RegionTable(tuple(regions)).check(_TWO)


def test_metadata_that_just_fit():
    # 160 words at a ratio of 16 are 10 entries.
    RegionTable((_GOOD[0], replace(_GOOD[1], metadata_base=0x8000 + 10 * ENTRY_BYTES))).check(_TWO)


def test_as_many_as_the_instance_has():
    with pytest.raises(ValueError, match="Regions must number at most 2, not 3"):
        RegionTable((*_GOOD, LineRegion())).check(_TWO)
    with pytest.raises(ValueError, match="regions must be at least 2 for a table of regions, not"):
        RegionTable(_GOOD).check(replace(_TWO, regions=1))


def test_table_needs_memory_behind_a_port():
    with pytest.raises(ValueError, match="regions must be 1 with local_bytes, not 2"):
        ScordParams(regions=2, local_bytes=4096)
