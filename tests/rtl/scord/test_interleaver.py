"""Interleaver: order of each SM's accesses, nothing lost, rate, fairness."""

import random

import pytest

from racetrap.golden_model.gpu.region import Region, bank_of, bank_of_entry
from racetrap.golden_model.scord.packets import Packet, PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.interleaver import Interleaver
from tests.support.campaign import pairs_of
from tests.support.rtl.streams import (
    get_all,
    get_forever,
    monitor,
    put_all,
    random_idle,
    shared,
    simulate,
)


def load(params, sm, number, word):
    """A load of ``word``; ``number`` tells packets apart."""
    return Packet(PacketKind.LOAD, 0, 0, params.block_id(sm, 0), 0, 0, 0, number, word)


def pack_all(params, packets):
    return [params.packet_layout.pack(packet._asdict()) for packet in packets]


def expected_at(params, packets, bank):
    """What a bank gets of one SM's packets: its own words."""
    return [packet for packet in packets if bank_of(params, packet.word) == bank]


async def until_idle(ctx, dut):
    """Wait until nothing is held, and for the testbenches that take to have noted it."""
    while not ctx.get(dut.o_idle):
        await ctx.tick()
    await ctx.tick()


def run(params, sent, seed):
    """Play the packets of each SM with random pauses everywhere; packets of each bank."""
    dut = shared(Interleaver, params)
    words = [[] for _ in range(params.banks)]
    running = params.sm_count

    def source(sm):
        put = put_all(
            dut.i_packet[sm], pack_all(params, sent[sm]), idle=random_idle(f"{seed} {sm}")
        )

        async def testbench(ctx):
            nonlocal running
            await put(ctx)
            running -= 1
            while running:
                await ctx.tick()
            await until_idle(ctx, dut)

        return testbench

    simulate(
        dut,
        *(source(sm) for sm in range(params.sm_count)),
        background=[
            get_forever(port, words[bank], idle=random_idle(f"{seed} bank {bank}", 0.4))
            for bank, port in enumerate(dut.o_packet)
        ],
    )
    layout = params.packet_layout
    return [[Packet(**layout.unpack(word)) for word in of_bank] for of_bank in words]


@pytest.mark.parametrize(
    ("sms", "banks", "granularity"),
    pairs_of((1, 3, 4, 5), (1, 2, 4, 6), (4, 8, 16)),
)
def test_random_packets(sms, banks, granularity):
    params = ScordParams(sm_count=sms, banks=banks, granularity=granularity)
    rng = random.Random(f"{sms} {banks} {granularity}")
    sent = [
        [load(params, sm, number, rng.getrandbits(params.word_bits)) for number in range(40)]
        for sm in range(sms)
    ]
    got = run(params, sent, seed=f"{sms} {banks} {granularity}")
    for bank in range(banks):
        for sm in range(sms):
            mine = [each for each in got[bank] if params.sm_of_block(each.block) == sm]
            assert mine == expected_at(params, sent[sm], bank), (bank, sm)


@pytest.mark.parametrize("banks", [4, 24, 80])
@pytest.mark.parametrize("granularity", [4, 8, 16])
def test_bank_follows_from_the_entry_index(banks, granularity):
    """What the routing relies on: a region's base does not matter."""
    params = ScordParams(banks=banks, granularity=granularity)
    rng = random.Random(granularity)
    for _ in range(200):
        size_log2 = rng.randint(params.min_region_log2, 22)
        region = Region(rng.randrange(16) << size_log2, size_log2)
        address = region.data_base + (rng.getrandbits(size_log2) & ~3)
        index, _ = region.locate(params, address)
        assert bank_of(params, address // 4) == bank_of_entry(params, index)


def test_latency_is_one_cycle():
    params = ScordParams(sm_count=2, banks=2)
    dut, taken, left = shared(Interleaver, params), [], []
    simulate(
        dut,
        put_all(dut.i_packet[1], pack_all(params, [load(params, 1, 0, 1), load(params, 1, 1, 1)])),
        get_all(dut.o_packet[1], 2, []),
        background=[
            get_forever(dut.o_packet[0], []),
            monitor(dut.i_packet[1], taken),
            monitor(dut.o_packet[1], left),
        ],
    )
    assert left == [(cycle + 1, word) for cycle, word in taken]
    assert len(left) == 2


def test_a_stalled_bank_does_not_stop_the_others():
    params = ScordParams(sm_count=2, banks=2)
    dut = shared(Interleaver, params)
    to_bank_0 = pack_all(params, [load(params, 0, number, 0) for number in range(10)])
    to_bank_1 = pack_all(params, [load(params, 1, number, 1) for number in range(10)])
    words = []
    simulate(
        dut,
        put_all(dut.i_packet[0], to_bank_0),
        get_all(dut.o_packet[0], len(to_bank_0), words),
        background=[put_all(dut.i_packet[1], to_bank_1)],
        cycles=50,
    )
    assert words == to_bank_0


def test_each_bank_serves_the_sms_in_turn():
    params = ScordParams(sm_count=5, banks=1)
    dut, left = shared(Interleaver, params), []
    sent = [pack_all(params, [load(params, sm, n, 0) for n in range(8)]) for sm in range(5)]
    simulate(
        dut,
        *(put_all(port, words) for port, words in zip(dut.i_packet, sent, strict=True)),
        background=[get_forever(dut.o_packet[0], []), monitor(dut.o_packet[0], left)],
    )
    order = [params.sm_of_block(params.packet_layout.unpack(word)["block"]) for _, word in left]
    assert order == [number % 5 for number in range(len(left))]
    assert [cycle - left[0][0] for cycle, _ in left] == list(range(len(left)))


@pytest.mark.parametrize(
    "is_staggered",
    [pytest.param(False, marks=pytest.mark.campaign), True],
    ids=["same-start", "own-start"],
)
def test_fifteen_sms_fill_four_banks(is_staggered):
    """Sequential words of each SM, all from word 0 or each from its own."""
    params = ScordParams(banks=4)
    rng = random.Random(15)
    starts = [rng.randrange(64) if is_staggered else 0 for _ in range(params.sm_count)]
    dut = shared(Interleaver, params)
    left = [[] for _ in range(params.banks)]
    simulate(
        dut,
        *(
            put_all(
                dut.i_packet[sm],
                pack_all(params, [load(params, sm, n, start + n) for n in range(30)]),
            )
            for sm, start in enumerate(starts)
        ),
        background=[
            *(get_forever(port, []) for port in dut.o_packet),
            *(monitor(port, left[bank]) for bank, port in enumerate(dut.o_packet)),
        ],
    )
    # 450 packets take 112 cycles at least: all SMs still have packets in this window.
    window = range(20, 95)
    packets = sum(cycle in window for of_bank in left for cycle, _ in of_bank)
    print(f"{packets / len(window):.3f} packets a cycle")
    assert packets >= 3.8 * len(window)
