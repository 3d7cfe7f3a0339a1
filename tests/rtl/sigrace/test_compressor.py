"""Compressor: messages equal the golden ones, flit by flit."""

import random
from dataclasses import replace

import pytest

from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.compressor import encode
from racetrap.rtl.sigrace.compressor import Compressor
from racetrap.rtl.sigrace.set_encoder import SetEncoder
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_all, get_forever, monitor, put_all, random_idle, simulate
from tests.support.sigrace.blocks import EDGES, pack_block, pack_set, random_block
from tests.support.sigrace.configurations import SMALL


def compress(params, blocks, *, seed=None):
    """Transfers (cycle, word) at the output, and at the input."""
    dut, left, taken = Compressor(params), [], []
    rng = random.Random(f"junk {seed}")
    words = [pack_block(params, block, rng) for block in blocks]
    pauses = [{"idle": random_idle(f"{seed} {end}", 0.2)} if seed else {} for end in ("put", "get")]

    async def until_idle(ctx):
        await put_all(dut.i, words, **pauses[0])(ctx)
        while not ctx.get(dut.o_idle):
            await ctx.tick()
        await ctx.tick()

    background = [get_forever(dut.o, [], **pauses[1]), monitor(dut.o, left), monitor(dut.i, taken)]
    simulate(dut, until_idle, background=background)
    return left, taken


def expected_flits(params, blocks):
    """Packed flits of the golden messages."""
    return [
        params.flit_layout.pack({"data": flit, "last": number == len(message) - 1})
        for message in (encode(params, block) for block in blocks)
        for number, flit in enumerate(message)
    ]


@pytest.mark.parametrize("settings", EDGES, ids=str)
def test_messages(settings):
    params = replace(SMALL, **settings)
    rng = random.Random(str(settings))
    blocks = [random_block(params, rng) for _ in range(12)]
    left, _ = compress(params, blocks, seed=str(settings))
    assert [word for _, word in left] == expected_flits(params, blocks)


def test_first_flit_leaves_three_cycles_after_its_block():
    rng = random.Random(0)
    left, taken = compress(SMALL, [random_block(SMALL, rng)])
    assert left[0][0] - taken[0][0] == 3


def test_set_becomes_one_field_a_cycle():
    """Between the first field and the runs two cycles are lost; the next set follows at once."""
    dut, left, taken = SetEncoder(SMALL), [], []
    addresses = AddressSet(0b101010, [1, 2])  # seven runs
    words = [pack_set(SMALL, addresses, random.Random(0))] * 2
    simulate(
        dut,
        put_all(dut.i, words),
        get_all(dut.o, 22, []),
        background=[monitor(dut.o, left), monitor(dut.i, taken)],
    )
    assert [cycle for cycle, _ in taken] == [0, 14]
    assert [cycle for cycle, _ in left] == [1, *range(4, 14), 15, *range(18, 28)]


def test_no_path_from_valid_to_ready():
    assert valid_to_ready_paths(Compressor(SMALL)) == []
    assert valid_to_ready_paths(Compressor(replace(SMALL, form="hashed"))) == []
