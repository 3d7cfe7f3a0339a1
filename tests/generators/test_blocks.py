"""Blocks of presets: all there, as often as the system has them."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import PRESETS, find_preset
from racetrap.generators.structure import memory_bits, state_bits, total_state
from racetrap.generators.systems import blocks_of


@pytest.mark.parametrize("preset", PRESETS)
def test_every_block_can_be_made(preset):
    blocks = blocks_of(find_preset(preset).params)
    names = [block.name for block in blocks]
    assert len(set(names)) == len(names)
    assert names[-1] == "system"
    for block in blocks:
        assert block.count >= 1
        assert block.component() is not block.component()


@pytest.mark.parametrize(
    ("preset", "wholes"),
    [
        ("scord-tiny", ["tracker", "interleaver", "detector_bank", "report_path"]),
        pytest.param("sigrace-tiny", ["core_unit", "rdm"], marks=pytest.mark.campaign),
    ],
)
def test_blocks_that_do_not_overlap_hold_all_memories(preset, wholes):
    blocks = {block.name: block for block in blocks_of(find_preset(preset).params)}

    def bits(name):
        return blocks[name].count * sum(memory_bits(blocks[name].component()).values())

    assert sum(map(bits, wholes)) == bits("system")


def test_parts_have_no_more_state_than_what_they_are_part_of():
    blocks = {block.name: block for block in blocks_of(find_preset("scord-tiny").params)}

    def state(name):
        return total_state(state_bits(blocks[name].component()))

    for whole, parts in (
        ("tracker", ("lock_tables", "barrier_ids")),
        ("metadata_accessor", ("hazard_window",)),
        ("detector_bank", ("metadata_accessor", "fence_file", "detection_logic")),
    ):
        assert sum(state(part).flip_flops for part in parts) <= state(whole).flip_flops


def test_access_buffers_are_a_block_where_there_are_some():
    params = find_preset("scord-tiny").params
    assert "access_buffer" not in {block.name for block in blocks_of(params)}
    buffered = blocks_of(replace(params, access_buffer_depth=4))
    first = next(block for block in buffered if block.name == "access_buffer")
    assert first.count == params.sm_count
    layout = params.transaction_layout
    assert (
        sum(memory_bits(first.component()).values()) == 3 * layout.width
    )  # and an output register


def test_a_bitmap_stands_for_an_interval_cam():
    thesis, bitmap = (
        {block.name: block for block in blocks_of(find_preset(f"noncoherent-{form}").params)}
        for form in ("thesis", "bitmap")
    )
    assert thesis["interval_cam"].count == bitmap["interval_cam"].count + 1
    assert "bitmap" not in thesis
    # 1,024 words of 32 granules of 32 bytes, with a tag of 32 bits and one for others.
    assert sum(memory_bits(bitmap["bitmap"].component()).values()) == 1024 * (32 + 32 + 1)


def test_trace_ports_are_left_out():
    for preset in ("scord-tiny", "sigrace-tiny"):
        system = blocks_of(find_preset(preset).params)[-1].component()
        for name in system.signature.members:
            assert not name.startswith("trace")
