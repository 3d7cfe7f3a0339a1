"""Table of valid segments: each segment of a port has a bit of its own, in each region."""

import pytest

from racetrap.golden_model.gpu.region import Region, bank_of_entry
from racetrap.golden_model.gpu.region_table import LineRegion, RegionTable
from racetrap.golden_model.gpu.valid_table import is_covered, is_written, valid_bit
from racetrap.golden_model.scord.params import ScordParams


def _bits_of_ports(params, region):
    """Of each port, the bit of each of its segments that has one."""
    ports = [{} for _ in range(params.metadata_ports)]
    for index in region.indices(params):
        bit = valid_bit(params, region, index)
        port = bank_of_entry(params, region.numbered(params, index)[1]) // params.words_per_cycle
        if bit is not None:
            assert ports[port].setdefault(index // params.words_per_cycle, bit) == bit
    return ports


@pytest.mark.parametrize(
    ("banks", "words"), [(1, 1), (8, 4), (24, 1), (24, 8), (80, 1), (33, 1), (14, 2)]
)
def test_segments_of_a_port_have_different_bits(banks, words):
    params = ScordParams(banks=banks, words_per_cycle=words, valid_segments=128)
    regions = (Region(size_log2=size) for size in range(params.min_region_log2, 40))
    region = next(one for one in regions if not is_covered(params, one))
    segments = region.entries(params) // words
    for bits in _bits_of_ports(params, region):
        assert len(set(bits.values())) == len(bits)
        assert max(bits.values()) < params.valid_segments
        assert 0.5 * params.valid_segments < len(bits) <= params.valid_segments
    # So that a sweep can go on where they end.
    without = [i for i in region.indices(params) if valid_bit(params, region, i) is None]
    assert without == list(range(without[0], segments * words))


def test_regions_of_a_table_have_shares():
    params = ScordParams(
        banks=6, words_per_cycle=2, valid_segments=512, regions=3, address_bits=24, ratio=2
    )
    table = RegionTable((LineRegion(0x2080, 70, 0x400), LineRegion(0, 3, 0x20000)))
    table.check(params)
    assert params.valid_share == 128
    for bits in _bits_of_ports(params, table):
        assert len(set(bits.values())) == len(bits)
        assert {bit // params.valid_share for bit in bits.values()} == {0, 1}
    with pytest.raises(ValueError, match=r"^Entry index must be of a region, not 16000$"):
        table.numbered(params, 16000)


def test_what_has_been_written():
    params = ScordParams(banks=2, words_per_cycle=2, ratio=1, valid_segments=64)
    region = Region(size_log2=10)
    assert [is_written(params, region, index, {3}) for index in (5, 6, 7, 8, 127, 128)] == [
        False, True, True, False, False, True,
    ]  # fmt: skip
    assert is_covered(params, Region(size_log2=9))


@pytest.mark.parametrize(
    ("settings", "rule"),
    [
        ({"valid_segments": 32}, "a power of two from 64 to 268435456, not 32"),
        ({"valid_segments": 96}, "a power of two from 64 to 268435456, not 96"),
        ({"valid_segments": 128, "regions": 3}, "a power of two from 256 to 268435456, not 128"),
        ({"valid_segments": 1024, "local_bytes": 4096}, "from 64 to 512, not 1024"),
    ],
)
def test_table_is_of_whole_rows(settings, rule):
    with pytest.raises(ValueError, match=rf"^Parameter valid_segments must be .*{rule}$"):
        ScordParams(**settings)
