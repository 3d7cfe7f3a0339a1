"""The whole system, small: launch, random programs, registers, ring buffer, wraps."""

from itertools import islice

import pytest

from racetrap.golden_model.causality.packets import TransactionKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.word_splitter import split_words
from racetrap.golden_model.gpu.region import Region
from racetrap.rtl.causality.system import CausalitySystem
from racetrap.sim.cosim.causality.few_tiles import FewTiles
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.causality.delayed_system import DelayedSystem
from tests.support.causality.random_programs import RandomProgram
from tests.support.causality.system_bench import SystemBench
from tests.support.planted_bugs import modules_with
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import random_idle


def _params(**settings):
    return CausalityParams(**{
        "sm_count": 2, "blocks_per_sm": 2, "warps_per_sm": 8, "address_bits": 32, "pc_bits": 20,
        "hash_bits": 8, "known": 1, "outstanding": 4, "packet_fifo_depth": 2, "ratio": 8,
        "report_filter_entries": 2, "shared_bytes": 256, **settings,
    })  # fmt: skip


_REGION = Region(data_base=0, size_log2=13, metadata_base=0x4000_0000)


def _run(params, seed, count, system=CausalitySystem):
    bench = SystemBench(params, _REGION, f"one by one {seed}", system)
    events = list(islice(RandomProgram(seed).trace(), count))

    async def host(ctx):
        await bench.launch(ctx)
        await bench.play(ctx, events)
        await bench.check(ctx)

    bench.run(host, cycles=4000 + 400 * count)
    return bench.counters


@pytest.mark.parametrize(
    ("banks", "clock_bits", "seed", "count", "happens"),
    later_but(lambda case: case[2] == 12, [
        (2, 3, 12, 32, {"clock_wraps", "races_acquire", "messages_met", "knowledge_evictions"}),
        (2, 4, 86, 70, {"clock_wraps", "races_acquire"}),
        (1, 12, 28, 70, {"knowledge_evictions", "races_release", "pending_full"}),
        *((1 << seed % 3, 4 + seed % 4, seed, 150, {"accesses"}) for seed in range(40, 60)),
    ]),
)  # fmt: skip
def test_events_one_by_one_are_those_of_the_golden_model(banks, clock_bits, seed, count, happens):
    params = _params(banks=banks, clock_bits=clock_bits)
    counters = _run(params, seed, count)
    assert [name for name in happens if not counters[name]] == []


@pytest.mark.campaign
@pytest.mark.parametrize("system", [DelayedSystem, FewTiles])
@pytest.mark.parametrize(("banks", "clock_bits", "seed"), [(2, 3, 12), (2, 4, 86), (4, 12, 28)])
def test_events_one_by_one_if_streams_between_tiles_take_any_time(
    system, banks, clock_bits, seed
):  # fmt: skip
    counters = _run(_params(banks=banks, clock_bits=clock_bits), seed, 60, system)
    assert counters["accesses"] > 20


@pytest.mark.parametrize(
    ("banks", "count", "system"),
    later_but((2, 45, FewTiles).__eq__, [
        (2, 45, FewTiles),
        *((banks, 200, FewTiles) for banks in (1, 2, 4)),
        *((banks, 200, CausalitySystem) for banks in (1, 2, 4)),
        *((banks, 200, DelayedSystem) for banks in (1, 2, 4)),
    ]),
)  # fmt: skip
def test_all_sms_at_once_are_as_the_golden_model_in_their_order(banks, count, system):
    """Under back-pressure and wraps, and if all streams between tiles take any time."""
    _at_once(_params(banks=banks, clock_bits=3, report_fifo_depth=2), count, system)


def _at_once(params, count, system):
    """Transactions of all SMs at once, and the golden model in the hardware's order."""
    bench = SystemBench(params, _REGION, f"at once {count}", system)
    events = list(islice(RandomProgram(34).trace(), count))
    transactions = [
        [
            transaction for event in events if event.sm == sm
            for transaction in split_words(event, params)
        ]
        for sm in range(params.sm_count)
    ]  # fmt: skip
    left = params.sm_count

    def sender(sm):
        idle = random_idle(f"sender {count} {sm}", 0.2)

        async def testbench(ctx):
            nonlocal left
            await bench.launched(ctx)
            for transaction in transactions[sm]:
                for _ in range(idle()):
                    await ctx.tick()
                await bench.send(ctx, sm, transaction)
            left -= 1

        return testbench

    async def host(ctx):
        await bench.launch(ctx)
        while left:
            await ctx.tick()
        await bench.until_idle(ctx)
        accesses = sum(
            each.kind <= TransactionKind.ATOMIC for of_sm in transactions for each in of_sm
        )
        assert sum(map(len, bench.steps)) == accesses > 20
        await bench.compare(ctx, transactions)
        counters = bench.counters
        assert counters["clock_wraps"] > 0
        assert counters["reports_written"] + counters["reports_dropped"] > 0

    bench.run(host, *map(sender, range(params.sm_count)))


_FILE = "causality/system.py"
_BUGS = {
    "bank-without-rows": Patch(
        _FILE, 'self._cross(m, f"row_{number}", collector.o_row[number], bank.i_row)',
        "m.d.comb += collector.o_row[number].ready.eq(1)",
    ),
    "row-not-in-force-at-one-bank": Patch(
        _FILE, "collector.i_arrives[number].eq(done.valid & done.payload.row)",
        "collector.i_arrives[number].eq(number == 0)",
    ),
    "order-without-notices": Patch(_FILE, "done.valid & done.payload.notice", "0"),
}  # fmt: skip


@pytest.mark.campaign
@pytest.mark.parametrize("bug", _BUGS)
def test_planted_bug_shows(bug):
    system = modules_with([_FILE], _BUGS[bug])[_FILE].CausalitySystem
    with pytest.raises((AssertionError, TimeoutError)):
        _run(_params(banks=2, clock_bits=3), 12, 32, system)


@pytest.mark.campaign
def test_no_ready_depends_on_a_valid():
    assert not valid_to_ready_paths(CausalitySystem(_params(banks=2)))
