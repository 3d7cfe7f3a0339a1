"""The verilated cache against a plain memory on a million random steps, and a planted bug."""

import pytest

from racetrap.rtl.soc.cache import CacheParams
from racetrap.sim.soc.cache_exercise import wrong_words
from tests.support.planted_bugs import modules_with
from tests.support.soc.planted_bugs import CACHE, CACHE_BUGS

#: Minutes of builds.
pytestmark = pytest.mark.campaign
_STEPS, _SEED = 1_000_000, 1


@pytest.mark.parametrize(
    "params",
    [CacheParams(lines=16, line_bytes=16), CacheParams(16, 16, write_through=True), CacheParams()],
    ids=["write-back", "write-through", "as-in-the-system"],
)
def test_a_million_steps(params):
    assert wrong_words(params, _STEPS, _SEED) == 0


def test_planted_bug_is_found():
    name = "flush-forgets-to-clean"
    cache = modules_with([CACHE], CACHE_BUGS[name])[CACHE].Cache
    assert wrong_words(CacheParams(16, 16), 2000, _SEED, cache, name) > 0
