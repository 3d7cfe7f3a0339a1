"""Fences through the whole system: where the cycles of one go, and how many are settled a cycle."""

import pytest
from amaranth.hdl import Cat

from racetrap.golden_model.causality.packets import FenceOrder, TransactionKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.gpu.region import Region
from racetrap.rtl.causality.system import CausalitySystem
from tests.support.campaign import later_but
from tests.support.causality.system_bench import SystemBench
from tests.support.rtl.metadata_memory import MemoryKnobs

_REGION = Region(data_base=0, size_log2=18, metadata_base=0x4000_0000)
_WARPS = 4


class _Opened(CausalitySystem):
    """The system with its parts at hand."""

    def elaborate(self, platform):
        self.module = super().elaborate(platform)
        return self.module


class _Fences:
    """Each SM makes some stores of its own words, then a fence, in turn by each of its warps.

    Attributes
    ----------
    taken : list of list of (int, int)
        Of each SM, the cycle and kind of each of its transactions.
    stages : list of list of str
        What of the first SM's fence can be seen in each cycle.
    """

    def __init__(self, sms, banks, order, stores=0, count=6):
        params = CausalityParams(
            sm_count=sms, banks=banks, blocks_per_sm=2, warps_per_sm=8, address_bits=32, pc_bits=8
        )
        self.params, self.order, self.stores, self.count = params, order, stores, count
        self.bench = SystemBench(params, _REGION, "", _Opened, MemoryKnobs())
        self.taken = [[] for _ in range(sms)]
        self.stages = []
        self.cycle, self.started, self.left = 0, 0, sms

    def run(self):
        async def host(ctx):
            await self.bench.launch(ctx)
            while self.left:
                await ctx.tick()

        self.bench.run(host, self._watch, *map(self._sender, range(self.params.sm_count)))
        return self

    async def _watch(self, ctx):
        parts, dut = self.bench.dut.module.submodules, self.bench.dut
        collector, port = parts.collector, dut.i_transaction[0]
        seen = {
            "transaction": port.valid & port.ready,
            "mark": parts.tracker_0.o_packet.valid,
            "interleaved": parts.interleaver.o_packet[0].valid,
            "answered": collector.i_notice[0].valid,
            "taken": collector.o_trace.valid,
            "row": collector.o_row[0].valid,
            "resume": collector.o_resume[0].valid,
        }
        while self.left:
            *_, values = await ctx.tick().sample(Cat(seen.values()))
            self.stages.append([name for n, name in enumerate(seen) if values >> n & 1])
            self.cycle += 1

    def _sender(self, sm):
        async def testbench(ctx):
            await self.bench.launched(ctx)
            await self._send(ctx, sm, TransactionKind.BLOCK_START, warps=(1 << _WARPS) - 1)
            # It is taken when the block has started.
            await self._send(
                ctx, sm, TransactionKind.LOAD, lanes=1, bytes=15, size=2, word=128 * sm
            )
            self.started += 1
            while self.started < self.params.sm_count:
                await ctx.tick()
            word = 128 * sm
            for number in range(self.count):
                for _ in range(self.stores):
                    await self._send(
                        ctx, sm, TransactionKind.STORE, warp=number % _WARPS, writes=1, lanes=1,
                        bytes=15, size=2, word=word,
                    )  # fmt: skip
                    word += 1
                await self._send(
                    ctx, sm, TransactionKind.FENCE, warp=number % _WARPS, order=self.order, device=1
                )
            await self._send(ctx, sm, TransactionKind.LOAD, lanes=1, bytes=15, size=2, word=word)
            self.left -= 1

        return testbench

    async def _send(self, ctx, sm, kind, **values):
        layout = self.params.transaction_layout
        port = self.bench.dut.i_transaction[sm]
        word = layout.pack(dict.fromkeys(layout.fields, 0) | {"kind": kind, **values})
        ctx.set(port.payload.as_value(), word)
        ctx.set(port.valid, 1)
        taken = False
        while not taken:
            *_, taken = await ctx.tick().sample(port.ready)
        self.taken[sm].append((self.cycle - 1, kind))
        ctx.set(port.valid, 0)

    def fences(self, sm):
        """Cycles in which an SM's fences were taken, and the one behind the last of them."""
        kinds = [kind for _, kind in self.taken[sm]]
        first = kinds.index(TransactionKind.FENCE)
        return [
            cycle for cycle, kind in self.taken[sm][first:] if kind != TransactionKind.STORE
        ]  # fmt: skip

    def rate(self):
        """Fences a cycle of all SMs, from the first to the last."""
        cycles = [self.fences(sm) for sm in range(self.params.sm_count)]
        last = max(each[-1] for each in cycles)
        return self.count * len(cycles) / (last - min(each[0] for each in cycles))


@pytest.mark.parametrize(
    "order", later_but((FenceOrder.SC).__eq__, (FenceOrder.SC, FenceOrder.RELEASE))
)
def test_a_lone_fence_takes_at_most_14_cycles(order):
    fences = _Fences(1, 1, order).run()
    # The first comes behind an access.
    _, first, second, *_ = fences.fences(0)
    for cycle in range(first, second + 1):
        print(f"{cycle - first:3} {', '.join(fences.stages[cycle])}")
    assert second - first <= 14


@pytest.mark.campaign
@pytest.mark.parametrize("stores", [0, 6])
@pytest.mark.parametrize("order", FenceOrder)
def test_fences_of_15_sms_are_settled_in_four_cycles_each(order, stores):
    """Stores of other words in between keep both banks busy."""
    rate = _Fences(15, 2, order, stores, count=12).run().rate()
    print(f"{order.name}, {stores} stores between: {rate:.3f} fences a cycle")
    assert rate >= 0.25
