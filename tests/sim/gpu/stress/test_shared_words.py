"""Words that threads share."""

import pytest

from racetrap.sim.gpu.executor.machine.weak_memory import BLOCK_STRIDE
from racetrap.sim.gpu.stress.shared_words import shared_words
from tests.support.gpu.litmus_kernels import RESULTS, X, Y, litmus_subject

ONE = ["ld %r4, [%rd1+8]", f"ld %r2, {X}", f"st {Y}, 1", "st [%rd1+64], 1", f"st {RESULTS[0]}, 1"]
OTHER = [
    "ld %r2, [%rd1+8]",
    f"st {Y}, 2",
    f"st {X}, 1",
    "ld %r3, [%rd1+132]",
    f"st {RESULTS[1]}, 1",
]


def words(folder, place, space="global", lanes=False):
    """Words that are shared, from the first of the buffer on."""
    subject = litmus_subject(folder, ONE, OTHER, place, space)
    (found,) = shared_words(subject.traces, lanes)
    base = BLOCK_STRIDE if space == "shared" else subject.traces[0].lanes["address"].min()
    return {word - (int(base) >> 2) for word in found}


@pytest.mark.parametrize("place", ["block", "warp"])
def test_one_writes_and_another_accesses(tmp_path, place):
    """Not what is read alone, nor what one thread has for itself."""
    assert words(tmp_path, place) == {0, 32}


def test_shared_memory_is_that_of_a_block(tmp_path):
    assert words(tmp_path, "warp", "shared") == {0, 32}
    assert words(tmp_path, "block", "shared") == set()


def test_lanes_are_threads_where_they_are_independent(tmp_path):
    assert words(tmp_path, "lane") == set()
    assert words(tmp_path, "lane", lanes=True) == {0, 32}


def test_each_launch_has_its_own_and_any_run_counts(tmp_path):
    traces = litmus_subject(tmp_path, ONE, OTHER).traces
    assert shared_words([*traces, *traces], False) == shared_words(traces[:1], False)
    assert shared_words([], False) == []
