"""A core's region: as much as its memory describes, never more than there are addresses."""

import pytest

from racetrap.fpga.boards.table import board_params, find_board
from racetrap.fpga.gpu.board import largest_region
from racetrap.fpga.scord.core_device import ScordCoreDevice


def _params(**settings):
    words = [f"{name}={value}" for name, value in settings.items()]
    return board_params(find_board("ice40-hx8k"), "scord-local", words)


@pytest.mark.parametrize("ratio", [1, 2, 16, 64])
@pytest.mark.parametrize("local_bytes", [1024, 4096, 16384])
@pytest.mark.parametrize("address_bits", [16, 17, 24])
def test_region_is_legal_and_as_large_as_can_be(address_bits, local_bytes, ratio):
    params = _params(address_bits=address_bits, local_bytes=local_bytes, ratio=ratio)
    region = largest_region(params)
    region.check(params)
    assert params.max_region_log2 <= address_bits
    described = local_bytes // 8 * ratio * params.granularity
    assert 1 << region.size_log2 == min(1 << address_bits - 1, described)


def test_settings_beyond_a_core_are_refused():
    with pytest.raises(ValueError, match="sm_count must be 1 on a core, not 2"):
        ScordCoreDevice(_params(sm_count=2), 8)
