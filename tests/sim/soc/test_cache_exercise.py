"""The verilated cache against a plain memory on a million random steps, and planted bugs."""

from itertools import product

import pytest

from racetrap.rtl.soc.cache import CacheParams
from racetrap.sim.soc.cache_exercise import wrong_words
from tests.support.planted_bugs import modules_with
from tests.support.soc.planted_bugs import CACHE, CACHE_BUGS, CACHE_FILES, WAY_BUGS

#: Minutes of builds.
pytestmark = pytest.mark.campaign
_STEPS, _SEED = 1_000_000, 1
_EACH = [
    CacheParams(16, line_bytes, write_through, ways)
    for ways, line_bytes, write_through in product((1, 2, 4), (16, 32, 64, 128), (False, True))
]


def _name(params):
    policy = "write-through" if params.write_through else "write-back"
    return f"{params.ways}-ways-of-{params.line_bytes}-bytes-{policy}"


@pytest.mark.parametrize("params", [*_EACH, CacheParams()], ids=_name)
def test_a_million_steps(params):
    assert wrong_words(params, _STEPS, _SEED) == 0


@pytest.mark.parametrize(
    ("name", "ways"), [("flush-forgets-to-clean", 1), *((name, 4) for name in WAY_BUGS)]
)
def test_planted_bug_is_found(name, ways):
    cache = modules_with(CACHE_FILES, (CACHE_BUGS | WAY_BUGS)[name])[CACHE].Cache
    assert wrong_words(CacheParams(16, 16, ways=ways), 2000, _SEED, cache, name) > 0
