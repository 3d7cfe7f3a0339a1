"""The arbiter between two masters and a memory, and planted bugs."""

import pytest

from tests.support.campaign import one_in
from tests.support.planted_bugs import module_with
from tests.support.soc.arbiter_bench import arbiter_problems

_BUGS = {
    "first-master-only": ("chosen.eq(Mux(is_under_way, last,", "chosen.eq(Mux(1, 0,"),
    "answer-goes-to-both": ("memory.ready & (chosen == number)", "memory.ready"),
    "master-is-changed-under-way": (
        "chosen.eq(Mux(is_under_way, last, Mux(last, ~first.valid, other.valid)))",
        "chosen.eq(Mux(last, ~first.valid, other.valid))",
    ),
    "first-master-always-first": ("Mux(last, ~first.valid, other.valid)", "~first.valid"),
}  # fmt: skip


def _problems(bug):
    return arbiter_problems(module_with("soc/memory_arbiter.py", bug).MemoryArbiter())


def test_each_master_is_answered_in_turn():
    assert _problems(None) == []


@pytest.mark.parametrize("name", one_in(len(_BUGS), _BUGS))
def test_planted_bug_is_found(name):
    assert _problems(_BUGS[name])
