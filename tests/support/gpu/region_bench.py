"""Looks up words of regions in a region decoder, as ``Region.locate`` does."""

from __future__ import annotations

import random

from racetrap.golden_model.gpu.region import Region
from racetrap.rtl.gpu.region import RegionDecoder
from tests.support.rtl.streams import simulate


def locate(params, cases, decoder=RegionDecoder):
    """Monitored, index, tag and log2 of entries for each (region, word)."""
    dut = decoder(params)
    answers = []

    async def testbench(ctx):
        for region, word in cases:
            ctx.set(dut.i_region.data_base, region.data_base)
            ctx.set(dut.i_region.size_log2, region.size_log2)
            ctx.set(dut.i_region.metadata_base, region.metadata_base)
            ctx.set(dut.i_word, word)
            await ctx.tick()
            tag = ctx.get(dut.o_tag) if params.tag_bits else 0
            answers.append(
                (ctx.get(dut.o_monitored), ctx.get(dut.o_index), tag, ctx.get(dut.o_entries_log2))
            )

    simulate(dut, testbench)
    return answers


def regions(params, rng):
    """A region of each possible size: the first, the last and another place."""
    for size_log2 in range(params.min_region_log2, params.max_region_log2 + 1):
        places = 1 << params.address_bits - size_log2
        for place in {0, places - 1, rng.randrange(places)}:
            yield Region(place << size_log2, size_log2, 8)


def words(params, region, rng):
    """Ends of the region, words just outside, random ones inside and anywhere."""
    first, count = region.data_base // 4, 1 << region.size_log2 - 2
    inside = [first, first + count - 1, *(first + rng.randrange(count) for _ in range(3))]
    anywhere = [rng.getrandbits(params.word_bits), first ^ count, first ^ 1 << params.word_bits - 1]
    return [*inside, first - 1, first + count, *anywhere]


def check_places(params, seed, decoder=RegionDecoder):
    """Words of regions of each size are where the golden model has them."""
    rng = random.Random(seed)
    cases = [
        (region, word)
        for region in regions(params, rng)
        for word in words(params, region, rng)
        if 0 <= word < 1 << params.word_bits
    ]
    monitored_words = 0
    for (region, word), answer in zip(cases, locate(params, cases, decoder), strict=True):
        monitored, *place, entries_log2 = answer
        assert bool(monitored) == region.contains(word * 4)
        assert 1 << entries_log2 == region.entries(params)
        if monitored:
            assert tuple(place) == region.locate(params, word * 4)
            monitored_words += 1
    assert 0 < monitored_words < len(cases)
