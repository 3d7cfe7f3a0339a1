"""Jumps of a launch's sweep over large regions, with one region and with a table."""

from dataclasses import replace
from itertools import count

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.gpu.region import Region, port_of
from racetrap.golden_model.gpu.region_table import LineRegion, RegionTable
from racetrap.sim.cosim.gpu.sweep import index_width, sweep_jumps


@pytest.mark.parametrize("name", ["scord-tiny", "causality-tiny", "causality-v100"])
@pytest.mark.parametrize("bits", [20, 22])
def test_each_port_writes_its_segments_around_powers_of_two(name, bits):
    params = find_preset(name).params
    region = Region(0, bits + params.entry_share_log2)
    segments = region.entries(params) // params.words_per_cycle
    for port in (0, params.metadata_ports - 1):
        jumps, written = sweep_jumps(params, region, port)
        first = params.valid_share << params.port_shift
        assert written == sorted(set(written))
        assert {port_of(params, each) for each in written} == {port}
        at, to = next(each for each in count(first) if port_of(params, each) == port), dict(jumps)
        for segment in written:
            assert segment == at
            at = next(each for each in count(at + 1) if port_of(params, each) == port)
            at = to.pop(at, at)
        assert (at >= segments, to) == (True, {})
        for power in (1 << bit for bit in range(12, segments.bit_length() - 1)):
            near = [each for each in written if abs(each - power) < 4 * params.metadata_ports]
            assert min(near) < power <= max(near)


def test_the_regions_of_a_table_are_swept_one_after_the_other():
    params = replace(find_preset("scord-tiny").params, regions=4)
    lines = (1 << 18) * params.ratio
    regions = tuple(LineRegion(n << 36, lines, n << 30) for n in range(2))
    table = RegionTable(regions)
    jumps, written = sweep_jumps(params, table, 0)
    above = 1 << index_width(params) - (params.regions - 1).bit_length()
    assert [at // above for at, _ in jumps] == sorted(at // above for at, _ in jumps)
    assert {at // above for at, _ in jumps} == {to // above for _, to in jumps} == {0, 1}
    second = (regions[1].metadata_base - regions[0].metadata_base) // params.segment_bytes
    assert {each >= second for each in written} == {False, True}
