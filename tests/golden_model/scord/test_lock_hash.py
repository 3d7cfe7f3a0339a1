"""Lock hash, block masks and lock filter."""

from itertools import combinations
from random import Random

import pytest

from racetrap.golden_model.scord.bloom_filter import filter_of_key, is_empty, share_a_lock
from racetrap.golden_model.scord.lock_hash import block_mask, lock_hash, lock_hash_columns


def test_hash_is_linear():
    rng = Random("linear")
    for _ in range(200):
        one, other = rng.getrandbits(62), rng.getrandbits(62)
        assert lock_hash(one) ^ lock_hash(other) == lock_hash(one ^ other)


def test_hash_of_an_address_is_the_xor_of_its_columns():
    columns = lock_hash_columns(62)
    assert [lock_hash(1 << bit) for bit in range(62)] == list(columns)


def test_one_or_two_different_bits_never_collide():
    columns = lock_hash_columns(62)
    assert 0 not in columns
    assert len(set(columns)) == 62


def test_block_masks_differ_and_have_no_zero_half():
    masks = [block_mask(block) for block in range(512)]
    for first in range(512 - 48):
        assert len(set(masks[first : first + 49])) == 49, first
    for mask in masks:
        assert mask & 7
        assert 0 < mask >> 3 < 8


def test_a_key_sets_one_bit_in_each_bin():
    filters = {filter_of_key(key) for key in range(64)}
    assert len(filters) == 64
    for bits in filters:
        assert (bits & 0xFF).bit_count() == (bits >> 8).bit_count() == 1


def test_single_keys_share_iff_equal():
    for one, other in combinations(range(64), 2):
        assert not share_a_lock(filter_of_key(one), filter_of_key(other))
        assert share_a_lock(filter_of_key(one), filter_of_key(one))


@pytest.mark.parametrize(
    ("bits", "empty"), [(0, True), (0xFF, True), (0xFF00, True), (0x0101, False)]
)
def test_empty_is_a_bin_without_bits(bits, empty):
    assert is_empty(bits) == empty
