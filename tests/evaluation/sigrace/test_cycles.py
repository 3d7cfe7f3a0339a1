"""Figures of the hardware in exact cycles."""

import pytest

from racetrap.evaluation.sigrace.cycles import sustained, worst_scan


@pytest.mark.campaign
def test_an_entry_is_compared_in_each_cycle_of_a_queue():
    scan = worst_scan()
    assert scan.comparisons == 7 * 16
    assert scan.comparisons <= scan.cycles <= scan.comparisons + 4 * 7


@pytest.mark.campaign
def test_no_core_waits_at_the_papers_block_size():
    result = sustained(blocks=3)
    assert result.messages == 3 * 8
    assert result.comparisons == 7 * 16
    assert (result.core_stalls, result.link_stalls) == (0, 0)


@pytest.mark.campaign
def test_blocks_that_are_too_short_make_cores_wait():
    assert sustained(300, blocks=12).core_stalls > 0


def test_block_beyond_the_limit():
    with pytest.raises(ValueError, match="Block must have at most 2000 instructions, not 2001"):
        sustained(2001)
