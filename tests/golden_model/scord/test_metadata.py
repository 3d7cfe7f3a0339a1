"""Metadata entries and where they are."""

import pytest

from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.metadata import (
    BLK_SHARED,
    DEV_SHARED,
    FILTER_MASK,
    IS_ATOM,
    MODIFIED,
    SCOPE,
    STRONG,
    UNINITIALISED_ENTRY,
    pack_entry,
    unpack_entry,
)
from racetrap.golden_model.scord.params import ScordParams


def test_layout_is_figure_7():
    layout = ScordParams().entry_layout
    positions = {
        name: (offset + width - 1, offset) for name, offset, width in layout.flat() if width
    }
    assert positions == {
        "unused": (63, 58), "tag": (57, 54), "block": (53, 47), "warp": (46, 42),
        "dev_fence_id": (41, 36), "blk_fence_id": (35, 30), "barrier_id": (29, 22),
        "modified": (21, 21), "blk_shared": (20, 20), "dev_shared": (19, 19),
        "is_atom": (18, 18), "scope": (17, 17), "strong": (16, 16), "filter": (15, 0),
    }  # fmt: skip


@pytest.mark.parametrize(
    "params", [ScordParams(), ScordParams(ratio=1, sm_count=1), ScordParams(barrier_id_bits=5)]
)
def test_masks_are_the_fields(params):
    for mask, name in (
        (STRONG, "strong"), (SCOPE, "scope"), (IS_ATOM, "is_atom"), (MODIFIED, "modified"),
        (DEV_SHARED, "dev_shared"), (BLK_SHARED, "blk_shared"),
    ):  # fmt: skip
        assert pack_entry(params, **{name: 1}) == mask
    assert pack_entry(params, filter=0xFFFF) == FILTER_MASK
    assert pack_entry(params, modified=1, blk_shared=1, dev_shared=1) == UNINITIALISED_ENTRY
    block = params.block_id(params.sm_count - 1, 0)
    assert unpack_entry(params, pack_entry(params, block=block))["block"] == block


def test_generation_takes_the_unused_bits():
    params = ScordParams(slot_generation_bits=6)
    entry = pack_entry(params, generation=0b100001, tag=15)
    assert entry >> 58 == unpack_entry(params, entry)["generation"] == 0b100001
    assert unpack_entry(params, entry)["tag"] == 15
    assert params.entry_layout.fields["unused"] == 0


def test_neighbours_do_not_share_an_entry_but_multiples_of_the_entries_do():
    params, region = ScordParams(), Region(size_log2=14)
    words = (0, 1, 255, 256, 4095)
    assert [region.locate(params, 4 * word) for word in words] == [
        (0, 0), (1, 0), (255, 0), (0, 1), (255, 15)
    ]  # fmt: skip
