"""Blocks that read what the block before in their slot has written: a race for each."""

from dataclasses import replace

import pytest

from racetrap.generators.scord import SCORD
from racetrap.sim.gpu.launch.capture import capture
from racetrap.sim.gpu.launch.launch_file import read_launch
from racetrap.sim.gpu.oracle import PAPER_RULE, run_oracle
from racetrap.sim.gpu.ptx.parser import parse_ptx
from racetrap.verdict.scord.detect import region_of
from racetrap.verdict.scord.findings import find_races
from tests.support.gpu.ptx_text import kernel_text

_PARAMS = SCORD.presets["scord"].params
#: Block slots of the GPU, and so the distance of two blocks that are in one, one after the other.
_SLOTS = _PARAMS.sm_count * _PARAMS.blocks_per_sm
_BLOCKS = 4 * _SLOTS
_BODY = f"""
    ld.param.u64 %rd1, [k_data]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd2, %rd1, %rd2; st.volatile.global.u32 [%rd2], %r1; {{fence}}
    setp.lt.u32 %p1, %r1, {_SLOTS}; @%p1 bra DONE;
    ld.volatile.global.u32 %r2, [%rd2-{4 * _SLOTS}];
    DONE: ret;
"""


def _trace(folder, fence=""):
    """Run of the blocks, of one warp each."""
    path = folder / "launch.toml"
    path.write_text(
        f'kernel = "k"\ngrid = {_BLOCKS}\nblock = 32\n'
        f'[[arguments]]\nbuffer = "zeros"\ntype = "u32"\ncount = {_BLOCKS}\n'
    )
    text = kernel_text(_BODY.format(fence=fence), parameters=".param .u64 k_data")
    return capture(parse_ptx(text, "k.ptx"), read_launch(path)).trace


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    return _trace(tmp_path_factory.mktemp("slots"))


def _findings(trace, bits):
    params = replace(_PARAMS, slot_generation_bits=bits)
    return list(find_races(trace, params, region_of(trace))[1])


def test_every_block_but_the_first_of_its_slot_races(trace):
    (race,) = run_oracle(trace, PAPER_RULE).races
    assert race.instances == race.block_pairs == _BLOCKS - _SLOTS == 360


def test_none_is_reported_without_generations(trace):
    assert _findings(trace, 0) == []


@pytest.mark.parametrize("bits", [1, 6])
def test_every_one_is_reported_with_generations(trace, bits):
    """One bit is enough for a block and the next of its slot."""
    findings = _findings(trace, bits)
    blocks = [(each.access.grid_block, each.earlier.grid_block) for each in findings]
    assert sorted(blocks) == [(block, block - _SLOTS) for block in range(_SLOTS, _BLOCKS)]
    for each in findings:
        assert (each.access.sm, each.access.slot) == (each.earlier.sm, each.earlier.slot)
        assert f"grid block {each.access.grid_block} warp" in each.sentence()
        assert f"grid block {each.earlier.grid_block} warp" in each.sentence()
        assert each.report.device_race == 1


def test_fenced_blocks_are_not_reported(tmp_path):
    assert _findings(_trace(tmp_path, "membar.gl;"), 6) == []
