"""Array operations, against loops over small random arrays."""

from random import Random

import numpy as np
import pytest

from racetrap.golden_model.trace.container.arrays import (
    bit_counts,
    group_numbers,
    ranges,
    run_starts,
    running_sums,
)


def columns(seed, count):
    rng = Random(f"arrays {seed}")
    length = rng.randrange(12)
    return [np.array([rng.randrange(3) for _ in range(length)], np.int64) for _ in range(count)]


@pytest.mark.parametrize("seed", range(30))
def test_run_starts(seed):
    one, other = columns(seed, 2)
    rows = list(zip(one, other, strict=True))
    expected = [at for at, row in enumerate(rows) if not at or row != rows[at - 1]]
    assert run_starts(one, other).tolist() == expected


@pytest.mark.parametrize("seed", range(30))
def test_groups_and_running_sums(seed):
    one, other, step = columns(seed, 3)
    rows = list(zip(one.tolist(), other.tolist(), strict=True))
    groups = group_numbers(one, other)
    for at, row in enumerate(rows):
        assert [groups[at] == group for group in groups] == [row == each for each in rows]
    sums = running_sums(groups, step)
    for at, row in enumerate(rows):
        assert sums[at] == sum(step[k] for k in range(at + 1) if rows[k] == row)


@pytest.mark.parametrize("seed", range(30))
def test_ranges(seed):
    first, counts = columns(seed, 2)
    expected = [
        number
        for start, count in zip(first.tolist(), counts.tolist(), strict=True)
        for number in range(start, start + count)
    ]
    assert ranges(first, counts).tolist() == expected


def test_bit_counts():
    masks = [0, 1, 0x8000_0000, 0xFFFF_FFFF, 0x1234_5678]
    assert bit_counts(np.array(masks, "<u4")).tolist() == [mask.bit_count() for mask in masks]
