"""Signatures: no address is ever missed, whatever the configuration."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racetrap.golden_model.h3 import h3_hash
from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.signature import (
    SignatureHash,
    signature_hash,
    signature_of_granules,
)
from tests.support.sigrace.configurations import SIGNATURES, SMALL, signature_params

_ONE_HOT = SigraceParams(one_hot_lsb=True)
_ALL = [*map(signature_params, SIGNATURES), SMALL, _ONE_HOT]
_granules = st.integers(0, (1 << 30) - 1).map(lambda number: number << 2)


@pytest.mark.parametrize("params", _ALL, ids=[*SIGNATURES, "small", "one-hot"])
@given(one=st.sets(_granules, max_size=20), other=st.sets(_granules, min_size=1, max_size=20))
@settings(max_examples=10, deadline=None)
def test_common_granules_are_never_missed(params, one, other):
    left = signature_of_granules(params, one | other)
    right = signature_of_granules(params, other)
    assert not signature_hash(params).is_null(left & right)
    for granule in one | other:
        assert left & signature_hash(params).granule(granule) == signature_hash(params).granule(
            granule
        )


@pytest.mark.parametrize("params", _ALL, ids=[*SIGNATURES, "small", "one-hot"])
@given(granules=st.lists(_granules, max_size=20))
@settings(max_examples=10, deadline=None)
def test_portions_determine_the_signature(params, granules):
    portion = (1 << params.lsb_bits) - 1
    bitmap = 0
    for granule in granules:
        bitmap |= 1 << ((granule & portion) >> 2)
    usb_values = [granule >> params.lsb_bits for granule in granules]
    expected = signature_of_granules(params, granules)
    assert AddressSet(bitmap, usb_values).signature(params) == expected


@pytest.mark.parametrize("params", [SigraceParams(), SMALL, _ONE_HOT])
@given(granules=st.lists(_granules, max_size=20))
@settings(max_examples=20, deadline=None)
def test_signature_of_sets_is_that_of_their_granules(params, granules):
    addresses = AddressSet()
    for granule in granules:
        addresses.insert(params, granule)
    assert addresses.signature(params) == signature_of_granules(params, granules)


@pytest.mark.parametrize("params", _ALL, ids=[*SIGNATURES, "small", "one-hot"])
def test_a_granule_sets_one_bit_in_each_filter(params):
    for granule in (0, 4, 0xFFFFFFFC, 0x12345678):
        bits = signature_hash(params).granule(granule)
        for each in params.sub_filters:
            portion = granule & (1 << params.lsb_bits) - 1
            portion = portion if each.is_lsb else granule >> params.lsb_bits
            index = portion >> 2 if each.rows is None else h3_hash(each.rows, portion)
            assert bits >> each.offset & (1 << each.bits) - 1 == 1 << index
        assert bits.bit_count() == len(params.sub_filters)


def test_one_empty_filter_makes_an_intersection_null():
    full = (1 << SMALL.signature_bits) - 1
    assert not signature_hash(SMALL).is_null(full)
    assert signature_hash(SMALL).is_null(0)
    for each in SMALL.sub_filters:
        mask = (1 << each.bits) - 1 << each.offset
        assert signature_hash(SMALL).is_null(full & ~mask)
        assert signature_hash(SMALL).is_null(mask)  # bits in one filter only
        assert not signature_hash(SMALL).is_null(full & ~mask | 1 << each.offset)


def test_the_papers_signature_sizes():
    sizes = [signature_params(f"B2_S{number}").signature_bits for number in range(1, 7)]
    assert sizes == [4096, 2048, 1024, 4096, 2048, 1024]


def test_forgotten_portions_are_hashed_again(monkeypatch):
    monkeypatch.setattr("racetrap.golden_model.sigrace.signature._REMEMBERED", 2)
    hashes = SignatureHash(SMALL)
    granules = [number * 0x10004 for number in range(9)]
    first = [hashes.granule(granule) for granule in granules]
    assert [hashes.granule(granule) for granule in granules] == first
    assert first == [signature_hash(SMALL).granule(granule) for granule in granules]
