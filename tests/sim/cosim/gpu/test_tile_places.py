"""Tiles that a co-simulation of a few has, and traffic for these alone."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.gpu.region import Region, bank_of
from racetrap.golden_model.scord.packets import Transaction as LineTransaction
from racetrap.golden_model.scord.packets import TransactionKind
from racetrap.sim.cosim.causality import fast_compare as causality
from racetrap.sim.cosim.gpu.tile_places import TilePlaces
from racetrap.sim.cosim.scord import random_events as scord

_NAMES = ("scord-v100", "scord-a100", "causality-v100", "causality-a100")


def test_first_and_last_tiles_are_there():
    places = TilePlaces(find_preset("scord-a100").params)
    assert places.sms == (0, 1, 54, 107)
    assert places.ports == (0, 1, 40, 79)
    assert not places.are_all
    assert places.playing.sm_count == 4


@pytest.mark.parametrize("sms", [1, 2, 3, 4])
def test_a_small_gpu_has_all_its_tiles(sms):
    params = replace(find_preset("scord-tiny").params, sm_count=sms, banks=4)
    places = TilePlaces(params)
    assert places.are_all
    assert places.sms == tuple(range(sms))
    assert [places.word(word) for word in range(200)] == [*range(200)]


@pytest.mark.parametrize("name", _NAMES)
def test_words_are_moved_to_banks_that_are_there(name):
    places = TilePlaces(find_preset(name).params)
    moved = {word: places.word(word) for word in range(3, 1 << 16, 17)}
    assert {bank_of(places.params, word) for word in moved.values()} == places.banks
    # Entries are shared by the same words as before.
    period = len(places.words)
    assert {word // period - other // period for word, other in moved.items()} == {0}


def test_accesses_are_moved_and_the_rest_is_left():
    places = TilePlaces(find_preset("scord-v100").params)
    given = [
        (1, LineTransaction(TransactionKind.LOAD, line=5, mask=0xFFFF_FFFF)),
        (2, LineTransaction(TransactionKind.ATOMIC, line=9, mask=1 << 20, lock_mask=1 << 20)),
        (3, LineTransaction(TransactionKind.BLOCK_START, slot=1, mask=0xF, lock_mask=3)),
    ]
    load, atomic, start = scord.at_tiles(given, places)
    for sm, transaction in (load, atomic):
        words = [32 * transaction.line + place for place in range(32)
                 if transaction.mask >> place & 1]  # fmt: skip
        assert words
        assert {bank_of(places.params, word) for word in words} <= places.banks
        assert transaction.lock_mask & ~transaction.mask == 0
        assert sm in places.sms
    assert start == (79, given[2][1])


@pytest.mark.parametrize("name", _NAMES)
def test_words_of_the_region_drawn_stand_for_those_that_are_there(name):
    places = TilePlaces(find_preset(name).params)
    region = Region(1 << 30, 30)
    drawn = places.drawn(region)
    first, end = (region.data_base >> 2, (region.data_base >> 2) + (1 << drawn.size_log2 - 2))
    some = [*range(first, first + 5000), *range(end - 5000, end)]
    spread = [places.spread(region, word) for word in some]
    assert spread == sorted({*spread})
    assert {bank_of(places.params, word) for word in spread} == places.banks
    assert region.contains(4 * spread[0])
    assert region.contains(4 * spread[-1])
    # Others stay about where they are, and outside.
    assert places.spread(region, end + (1 << 24)) == places.word(end + (1 << 24))
    beyond = (region.data_base + (1 << region.size_log2)) >> 2
    assert not region.contains(4 * places.spread(region, beyond))


def test_words_of_causality_are_moved():
    places, region = TilePlaces(find_preset("causality-v100").params), Region(0, 26)
    given = [(1, causality.Transaction(TransactionKind.LOAD, word=5)),
             (2, causality.Transaction(TransactionKind.LOAD, word=5, shared=1)),
             (0, causality.Transaction(TransactionKind.FENCE, word=5))]  # fmt: skip
    (sm, access), (_, shared), fence = causality.at_tiles(given, places, region)
    assert (sm, access.word) == (1, places.spread(region, 5))
    assert shared.word == places.word(5) != access.word
    assert {bank_of(places.params, each) for each in (access.word, shared.word)} <= places.banks
    assert fence == given[2]
