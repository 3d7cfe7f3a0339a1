"""The cache against a plain memory on random accesses, what it keeps, and planted bugs."""

from dataclasses import replace

import pytest

from racetrap.rtl.soc.cache import CacheParams
from tests.support.campaign import one_in
from tests.support.planted_bugs import modules_with
from tests.support.soc.cache_bench import fills_unlike_lru, moved_lines, wrong_words
from tests.support.soc.planted_bugs import (
    CACHE,
    CACHE_BUGS,
    CACHE_FILES,
    CHOICE_BUGS,
    WAY_BUGS,
)


def _cache(params, bug=None):
    return modules_with(CACHE_FILES, bug)[CACHE].Cache(params)


_SMALL = CacheParams(lines=4, line_bytes=16)
_TWO_WAYS = CacheParams(lines=8, line_bytes=16, ways=2)


@pytest.mark.parametrize(
    "params",
    [
        _SMALL, CacheParams(4, 16, write_through=True), _TWO_WAYS,
        CacheParams(8, 16, True, 2), CacheParams(8, 16, ways=4),
    ],
)  # fmt: skip
def test_cache_is_a_plain_memory(params):
    assert wrong_words(_cache(params), params, 120) == 0


@pytest.mark.parametrize("name", one_in(len(CACHE_BUGS), CACHE_BUGS))
def test_planted_bug_is_found(name):
    assert wrong_words(_cache(_SMALL, CACHE_BUGS[name]), _SMALL, 120) > 0


@pytest.mark.parametrize("name", one_in(len(WAY_BUGS), WAY_BUGS))
def test_planted_bug_of_ways_is_found(name):
    assert wrong_words(_cache(_TWO_WAYS, WAY_BUGS[name]), _TWO_WAYS, 120) > 0


def _moved(params, lines, wstrb):
    return moved_lines(_cache(params), params, lines, wstrb)


#: For each number of ways: lines, and how many fills these take.  With more than one way line 0
#: stays, since it is used again before each new one.
_KEPT = {
    1: ([0, 1, 0, 1, 0], 5),
    2: ([0, 1, 0, 2, 0, 3, 0, 4, 0], 5),
    4: ([0, 1, 2, 3, 0, 4, 0, 5, 0, 6, 0], 7),
}


@pytest.mark.parametrize("ways", _KEPT)
def test_line_in_use_stays(ways):
    lines, fills = _KEPT[ways]
    params = CacheParams(4 * ways, 16, ways=ways)
    assert _moved(params, lines, 0) == (fills, 0)
    # Written lines leave with one write-back each; as many as there are ways are still in.
    assert _moved(params, lines, 15) == (fills, fills - ways)
    # Writes go through word by word, and fill no line.
    assert _moved(replace(params, write_through=True), lines, 15) == (0, len(lines) / 4)


@pytest.mark.parametrize("ways", [1, 2])
def test_least_recently_used_way_is_filled(ways):
    params = CacheParams(4 * ways, 16, ways=ways)
    assert not fills_unlike_lru(_cache(params), params)


@pytest.mark.parametrize("ways", [2, 4])
def test_all_ways_of_a_set_are_used(ways):
    params = CacheParams(4 * ways, 16, ways=ways)
    assert _moved(params, [*range(ways)] * 3, 15) == (ways, 0)
    assert _moved(params, [*range(2 * ways)] * 2, 15) == (4 * ways, 3 * ways)


@pytest.mark.parametrize("name", CHOICE_BUGS)
def test_bad_choice_fills_more_lines(name):
    """It is no fault of the data, so that only a count shows it."""
    lines = [0, 1, 2, 3, -2, 4, 0, 1, 3, 5, 0, 6, 0, 7, 0]
    params = CacheParams(16, 16, ways=4)
    good, bad = (
        moved_lines(_cache(params, bug), params, lines, 15) for bug in (None, CHOICE_BUGS[name])
    )
    assert bad[0] > good[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lines": 3}, "Lines of the cache must be a power of two, not 3"),
        ({"line_bytes": 4}, "Line of the cache must be from 8 to 4096, not 4"),
        ({"ways": 8}, "Ways of the cache must be from 1 to 4, not 8"),
        ({"ways": 3}, "Ways of the cache must be 1, 2 or 4, not 3"),
        ({"lines": 4, "ways": 4}, "Lines of the cache must be at least 8, two of each way, not 4"),
    ],
)
def test_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        CacheParams(**settings)
