"""Outcomes of runs of edited sources."""

import pytest

from racetrap.golden_model.barracuda.race import RaceClass
from racetrap.verdict.gpu.cure.outcomes import Outcome, Threads

_THREADS = Threads(RaceClass.INTRA_BLOCK, ())


def outcome(*races, wrong=()):
    return Outcome(dict.fromkeys(map(frozenset, races), _THREADS), frozenset(wrong))


_BEFORE = outcome({"k.cu:1", "k.cu:2"}, {"k.cu:3"}, wrong=["a fault"])


@pytest.mark.parametrize(
    ("after", "is_cured"),
    [
        (outcome(), True),
        (outcome({"k.cu:3"}, wrong=["a fault"]), True),
        (outcome({"k.cu:1", "k.cu:2"}), False),
        (outcome({"k.cu:4"}), False),
        (outcome(wrong=["no end"]), False),
        # The compiler has made one instruction of two, which has no line.
        (outcome({"k.cu:3", "pc 0x40"}), True),
        (outcome({"k.cu:1", "pc 0x40"}), False),
        (outcome({"k.cu:4", "pc 0x40"}), False),
        (outcome({"pc 0x40"}), False),
    ],
)
def test_race_is_cured_if_it_is_gone_and_nothing_is_new(after, is_cured):
    assert after.cures([frozenset({"k.cu:1", "k.cu:2"})], _BEFORE) == is_cured
