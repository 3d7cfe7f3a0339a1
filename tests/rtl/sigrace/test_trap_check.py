"""Trap check: membership in the Conflict Signature, and the place for trap records."""

import random
from dataclasses import replace

import pytest

from racetrap.generators.structure import state_bits
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.signature import signature_hash
from racetrap.rtl.sigrace.trap_check import TrapCheck
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get, simulate
from tests.support.sigrace.blocks import EDGES, indices_of
from tests.support.sigrace.configurations import SMALL
from tests.support.sigrace.core_bench import conflict_writes


@pytest.mark.parametrize("settings", EDGES, ids=str)
def test_membership(settings):
    params = replace(SMALL, **settings)
    rng = random.Random(str(settings))
    inside = [rng.getrandbits(30) << 2 for _ in range(4)]
    tried = inside + [rng.getrandbits(30) << 2 for _ in range(40)]
    dut = TrapCheck(params)

    async def testbench(ctx):
        signature = 0
        beyond = [(rng.getrandbits(32), index) for index in (params.signature_words, 4095)]
        words = [(event.data, event.index) for event in conflict_writes(params, inside)] + beyond
        ctx.set(dut.i_write, 1)
        for data, index in words:
            ctx.set(dut.i_data, data)
            ctx.set(dut.i_index, index)
            await ctx.tick()
            signature |= data << 32 * index if index < params.signature_words else 0
        ctx.set(dut.i_write, 0)
        for granule in tried:
            ctx.set(dut.i_indices, indices_of(params, granule))
            bits = signature_hash(params).granule(granule)
            assert ctx.get(dut.o_is_member) == (signature & bits == bits)
        assert signature
        ctx.set(dut.i_clear, 1)
        await ctx.tick()
        ctx.set(dut.i_indices, indices_of(params, inside[0]))
        assert not ctx.get(dut.o_is_member)

    simulate(dut, testbench)


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_holds_as_many_records_as_promised(depth):
    """Neither fewer nor more, and in order."""
    params = replace(SMALL, trap_depth=depth)
    dut = TrapCheck(params)

    async def testbench(ctx):
        ctx.set(dut.i_trap.valid, 1)
        taken = 0
        for _ in range(4 * depth + 8):
            ctx.set(dut.i_trap.payload.address, taken)
            *_, ready = await ctx.tick().sample(dut.i_trap.ready)
            taken += ready
        ctx.set(dut.i_trap.valid, 0)
        assert taken == depth
        words = [await get(ctx, dut.o_trap) for _ in range(depth)]
        addresses = [params.trap_layout.unpack(word)["address"] for word in words]
        assert addresses == list(range(depth))

    simulate(dut, testbench)


def test_structure():
    """The Conflict Signature is the paper's 256 bytes; no path leads from valid to ready."""
    assert state_bits(TrapCheck(SigraceParams()))["top"].flip_flops == 8 * 256
    assert valid_to_ready_paths(TrapCheck(SMALL)) == []
