"""Tracker against the golden one: words, threads and counts, with any waiting."""

import random

import pytest

from racetrap.golden_model.hirace.packets import Transaction, TransactionKind
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.tracker import Tracker as GoldenTracker
from racetrap.rtl.hirace.tracker import Tracker
from tests.support.rtl.streams import get_all, never_idle, pulse, put_all, random_idle, simulate


def _transactions(params: HiraceParams, rng: random.Random, count: int) -> list[Transaction]:
    return [
        Transaction(
            rng.choice(list(TransactionKind)), rng.randrange(2), rng.randrange(2),
            rng.randrange(params.blocks_per_sm), rng.randrange(params.warps_per_sm),
            rng.randrange(32), rng.randrange(1 << params.pc_bits),
            rng.randrange(1 << params.word_bits), rng.randrange(4),
        )
        for _ in range(count)
    ]  # fmt: skip


@pytest.mark.parametrize("idle", [never_idle, random_idle("tracker")])
@pytest.mark.parametrize(("blocks", "warps"), [(1, 1), (3, 5), (8, 32)])
def test_packets_are_the_golden_ones(blocks, warps, idle):
    params = HiraceParams(
        sm_count=2, blocks_per_sm=blocks, warps_per_sm=warps, generation_bits=2, barrier_bits=2,
        warp_barrier_bits=3,
    )  # fmt: skip
    transactions = _transactions(params, random.Random(blocks), 400)
    golden = GoldenTracker(params, 1)
    due = [packet for transaction in transactions for packet in golden.step(transaction)]
    dut, got = Tracker(params), []

    async def constants(ctx):
        ctx.set(dut.i_sm, 1)
        ctx.set(dut.i_enable, 1)

    words = [params.transaction_layout.pack(each._asdict()) for each in transactions]
    simulate(
        dut, constants, put_all(dut.i_transaction, words, idle=idle),
        get_all(dut.o_packet, len(due), got, idle=idle),
    )  # fmt: skip
    layout = params.segment_layout
    assert got == [layout.pack(packet._asdict() | {"lanes": 0}) for packet in due]


def test_clear_sets_every_count_to_0():
    params = HiraceParams(sm_count=1, blocks_per_sm=1, warps_per_sm=1)
    counted = [TransactionKind.WARP_BARRIER, TransactionKind.BARRIER, TransactionKind.BLOCK_START]
    layout = params.transaction_layout
    dut, got = Tracker(params), []

    async def testbench(ctx):
        ctx.set(dut.i_enable, 1)
        for _ in range(2):
            words = [layout.pack(Transaction(kind)._asdict()) for kind in (*counted, 0)]
            await put_all(dut.i_transaction, words)(ctx)
            await get_all(dut.o_packet, 1, got)(ctx)
            await pulse(ctx, dut.i_clear)

    simulate(dut, testbench)
    golden = GoldenTracker(params, 0)
    packets = [packet for kind in (*counted, 0) for packet in golden.step(Transaction(kind))]
    assert got == [params.segment_layout.pack(packets[0]._asdict() | {"lanes": 0})] * 2


def test_disabled_tracker_takes_and_ignores():
    params = HiraceParams(sm_count=1)
    dut = Tracker(params)

    async def testbench(ctx):
        word = params.transaction_layout.pack(Transaction(TransactionKind.STORE)._asdict())
        await put_all(dut.i_transaction, [word] * 4)(ctx)
        for _ in range(4):
            await ctx.tick()
            assert not ctx.get(dut.o_packet.valid)
        assert ctx.get(dut.o_idle)

    simulate(dut, testbench)
