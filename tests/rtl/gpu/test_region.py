"""Region decoder against ``Region.locate``: every size, both ends, granularity and ratio."""

import pytest

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.region import index_bits
from tests.support.campaign import pairs_of
from tests.support.gpu.region_bench import check_places


@pytest.mark.parametrize(
    ("address_bits", "granularity", "ratio"),
    pairs_of((16, 32, 40, 64), (4, 8, 16), (1, 2, 16, 64)),
)
def test_locates_like_the_golden_model(address_bits, granularity, ratio):
    params = ScordParams(
        address_bits=address_bits, granularity=granularity, ratio=ratio, sm_count=2
    )
    check_places(params, f"{address_bits} {granularity} {ratio}")


@pytest.mark.parametrize(
    ("settings", "bits"),
    [
        ({}, 39 - 2 - 4),
        ({"granularity": 16, "ratio": 1}, 39 - 4),
        ({"local_bytes": 4096}, 9),
        ({"local_bytes": 8}, 1),
    ],
    ids=str,
)
def test_index_is_as_wide_as_the_largest_region(settings, bits):
    assert index_bits(ScordParams(**settings)) == bits
