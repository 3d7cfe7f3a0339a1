"""Tables of knowledge: they may claim more than is true, never less."""

from collections import Counter
from random import Random

import pytest

from racetrap.golden_model.causality.knowledge import Knowledge, Known
from racetrap.golden_model.causality.packets import Fenced
from racetrap.golden_model.causality.params import CausalityParams

PARAMS = CausalityParams(sm_count=3, blocks_per_sm=4, warps_per_sm=8)


def table(places: int, *known: Known, params: CausalityParams = PARAMS) -> Knowledge:
    made = Knowledge(params, places, Counter())
    for each in known:
        made.put(each)
    return made


def test_warp_is_known_up_to_its_clock_and_no_other_warp_is():
    known = table(1, Known(5, 1, 7))
    assert known.has(5, 1, 7)
    assert not known.has(5, 1, 8)
    assert not known.has(6, 1, 1)
    assert known.latest == 7


def test_block_stands_for_all_its_warps():
    known = table(1, Known(~1, 1, 7))
    assert known.has(5, 1, 7)
    assert known.has(4, 1, 1)
    assert not known.has(5, 2, 1)


def test_nothing_is_known_at_clock_zero():
    assert not table(1, Known(5, 1, 0))


def test_clock_of_a_key_only_grows():
    known = table(2, Known(5, 1, 7), Known(5, 1, 3), Known(5, 1, 9))
    assert known.exact == [Known(5, 1, 9)]


@pytest.mark.parametrize("places", [1, 2, 3, 4, 5])
def test_smallest_clock_makes_room_and_goes_to_the_bits(places):
    params = CausalityParams(sm_count=3, blocks_per_sm=4, warps_per_sm=8, known=places)
    counts: Counter[str] = Counter()
    known = Knowledge(params, places, counts)
    for number in range(places):
        known.put(Known(number, number, 20 - number))
    assert not counts
    assert not known.bits
    known.put(Known(20, 9, 30))
    evicted = places - 1
    assert [each.key for each in known.exact] == [*range(evicted), 20]
    assert known.bits == params.hash_of(evicted)
    assert known.lossy == 20 - evicted + 1
    assert known.has(evicted, evicted, 20 - evicted)
    assert not known.has(evicted, evicted, 21 - evicted)
    assert counts == {"knowledge_evictions": 1}


def test_first_of_equal_clocks_makes_room():
    known = table(2, Known(1, 1, 4), Known(2, 2, 4), Known(3, 3, 5))
    assert [each.key for each in known.exact] == [3, 2]


def test_newest_goes_to_the_bits_if_its_clock_is_not_larger():
    known = table(1, Known(1, 1, 4), Known(2, 2, 4))
    assert known.exact == [Known(1, 1, 4)]
    assert known.has(2, 2, 4)


def test_table_without_places_has_bits_alone():
    known = table(0, Known(1, 1, 4))
    assert known.exact == []
    assert known.has(1, 1, 4)
    # The price: any warp of the block slot, and of those with its hash.
    assert known.has(2, 1, 4)


def test_what_the_bits_have_takes_no_place_unless_it_is_direct():
    known = table(1)
    known.bits, known.lossy = PARAMS.hash_of(1), 9
    known.put(Known(5, 1, 8))
    assert known.exact == []
    known.put(Known(5, 1, 8, direct=True))
    assert known.exact == [Known(5, 1, 8, direct=True)]
    assert (known.direct(5), known.direct(6)) == (8, 0)


def test_join_takes_bits_first_and_then_entries_by_place():
    mine, other = table(1, Known(1, 1, 3)), table(2, Known(2, 2, 2), Known(3, 3, 6, direct=True))
    other.bits, other.lossy = PARAMS.hash_of(2), 3
    mine.join(other)
    # The first entry is in the bits already, and the second is larger than the one in place.
    assert mine.exact == [Known(3, 3, 6)]
    assert mine.bits == PARAMS.hash_of(2) | PARAMS.hash_of(1)
    assert mine.lossy == 4
    mine = table(1)
    mine.join(other, keep_direct=True)
    assert mine.exact == [Known(3, 3, 6, direct=True)]


def test_table_joined_with_itself_stays():
    known = table(1, Known(1, 1, 3), Known(2, 2, 5))
    before = list(known.exact), known.bits, known.lossy
    known.join(known)
    assert (known.exact, known.bits, known.lossy) == before


def test_fences_of_a_block_are_those_of_others_elsewhere():
    mine, other = table(1), table(1)
    other.fenced = Fenced.BLOCK | Fenced.DEVICE
    mine.join(other, of_other_block=True)
    assert mine.fenced == Fenced.OTHERS | Fenced.DEVICE
    other.join(mine, of_other_block=True)
    assert other.fenced == Fenced.BLOCK | Fenced.DEVICE | Fenced.OTHERS


def test_entry_is_taken_out():
    known = table(2, Known(1, 1, 4), Known(2, 2, 5))
    assert (known.pop(1, 4), known.pop(1, 4)) == (4, 0)
    assert known.exact == [Known(2, 2, 5)]


@pytest.mark.parametrize("has_fenced", [False, True])
def test_everything_up_to_a_clock_is_known(has_fenced):
    known = table(1)
    known.know_all(12, has_fenced)
    assert bool(known.fenced) == has_fenced
    assert known.has(3, 7, 12)
    assert not known.has(3, 7, 13)
    known.clear()
    assert not known
    assert known.fenced == 0


def test_older_block_of_a_warp_slot_does_not_go_with_the_slot():
    """Evicted under the newer block's bit, accesses of the older one would be reported."""
    known = table(1, Known(5, 1, 4), Known(5, 2, 9), Known(6, 3, 11))
    assert known.has(5, 1, 4)
    assert known.has(5, 2, 9)
    assert not known.has(5, 3, 11)


def test_entry_of_an_older_block_in_the_slot_stays():
    known = table(2, Known(5, 1, 4), Known(5, 2, 9))
    assert (known.pop(5, 8), known.pop(5, 8)) == (9, 0)
    assert known.exact == [Known(5, 1, 4)]


@pytest.mark.parametrize("places", [0, 1, 2, 3])
@pytest.mark.parametrize("hash_bits", [1, 4, 64])
def test_nothing_that_was_put_or_joined_is_forgotten(places, hash_bits):
    params = CausalityParams(sm_count=3, blocks_per_sm=4, warps_per_sm=8, hash_bits=hash_bits)
    rng = Random(places * 100 + hash_bits)
    tables = [table(places, params=params) for _ in range(3)]
    exact: list[dict[tuple[int, int], int]] = [{} for _ in tables]
    for _ in range(200):
        target = rng.randrange(3)
        if rng.random() < 0.7:
            sm, warp = rng.randrange(3), rng.randrange(8)
            # A warp slot is given to one block after another.
            block, key = params.block_id(sm, rng.randrange(4)), params.warp_id(sm, warp)
            clock = rng.randrange(1, 50)
            tables[target].put(Known(key, block, clock))
            new = {(key, block): clock}
        else:
            source = rng.randrange(3)
            tables[target].join(tables[source])
            new = dict(exact[source])
        for place, clock in new.items():
            exact[target][place] = max(clock, exact[target].get(place, 0))
        for known, wanted in zip(tables, exact, strict=True):
            assert {at: clock for at, clock in wanted.items() if not known.has(*at, clock)} == {}
            assert len(known.exact) <= places
