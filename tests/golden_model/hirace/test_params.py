"""Parameters of HiRace: widths that follow, and configurations that are refused."""

import pytest

from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.state import state_bits


def test_block_takes_as_many_bits_as_in_the_artefact():
    params = HiraceParams()
    assert params.block_bits + params.generation_bits == 15
    assert params.entry_layout.width == 64


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sm_count": 255, "generation_bits": 16, "warps_per_sm": 64}, "must fit in 64 bits"),
        ({"shared_bytes": 100}, "power of two"),
        ({"shared_bytes": 4, "banks": 2}, "at least 8"),
        ({"address_bits": 16}, "leave room"),
        ({"banks": 3}, "power of two"),
        ({"begin_anew": 1}, "true or false"),
    ],
)
def test_configuration_is_refused(settings, message):
    with pytest.raises((TypeError, ValueError), match=message):
        HiraceParams(**settings)


def test_window_doubles_the_metadata():
    assert HiraceParams(shared_bytes=0).metadata_overhead == 2
    assert HiraceParams().metadata_overhead == 4


def test_state_counts_what_the_method_needs():
    params = HiraceParams(sm_count=2, blocks_per_sm=3, warps_per_sm=5)
    assert state_bits(params) == {
        "barriers": 6 * 16, "generations": 6 * 8, "warp_barriers": 10 * 10
    }  # fmt: skip
