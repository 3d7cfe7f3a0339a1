"""Fences through the whole system: where the cycles of one go, and how many are settled a cycle."""

from itertools import pairwise

import pytest
from amaranth.hdl import Cat

from racetrap.golden_model.causality.packets import FenceOrder, PacketKind, TransactionKind
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
    packets : list of (int, int)
        Of each cycle, banks that take an access, and those that take a mark, one bit each.
    """

    def __init__(self, sms, banks, order, stores=0, count=6):
        params = CausalityParams(
            sm_count=sms, banks=banks, blocks_per_sm=2, warps_per_sm=8, address_bits=32, pc_bits=8
        )
        self.params, self.order, self.stores, self.count = params, order, stores, count
        self.bench = SystemBench(params, _REGION, "", _Opened, MemoryKnobs())
        self.taken = [[] for _ in range(sms)]
        self.stages, self.packets = [], []
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
        ports = parts.interleaver.o_packet
        moves = Cat(port.valid & port.ready for port in ports)
        marks = Cat(port.p.kind == PacketKind.MARK for port in ports)
        while self.left:
            *_, values, move, mark = await ctx.tick().sample(Cat(seen.values()), moves, marks)
            self.stages.append([name for n, name in enumerate(seen) if values >> n & 1])
            self.packets.append((move & ~mark, move & mark))
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

    def _settled(self, sm):
        """Cycles in which an SM has gone on behind a fence."""
        taken = self.taken[sm]
        return [
            cycle for (_, kind), (cycle, _) in pairwise(taken) if kind == TransactionKind.FENCE
        ]  # fmt: skip

    def _span(self):
        """Cycles from the first fence that is settled to the last one of the SM that ends first."""
        settled = [self._settled(sm) for sm in range(self.params.sm_count)]
        return min(each[0] for each in settled), min(each[-1] for each in settled)

    def rate(self):
        """Fences that are settled a cycle, while all SMs make some."""
        first, last = self._span()
        settled = sum(
            first < cycle <= last
            for sm in range(self.params.sm_count) for cycle in self._settled(sm)
        )  # fmt: skip
        return settled / (last - first)

    def busy(self):
        """Shares of these cycles in which a bank takes an access, and takes anything."""
        first, last = self._span()
        banks = self.params.banks * (last - first)
        return [
            sum(bits.bit_count() for bits in taken[first:last]) / banks
            for taken in ([access for access, _ in self.packets],
                          [access | mark for access, mark in self.packets])
        ]  # fmt: skip


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
@pytest.mark.parametrize("stores", [0, 5])
@pytest.mark.parametrize("order", FenceOrder)
def test_fences_of_15_sms_are_settled_in_four_cycles_each(order, stores):
    """Stores of other words in between keep both banks busy: in nearly all cycles each takes one,
    or a mark."""
    fences = _Fences(15, 2, order, stores, count=8).run()
    rate, (accesses, anything) = fences.rate(), fences.busy()
    print(
        f"{order.name}, {stores} stores between: {rate:.3f} fences a cycle, a bank takes an access "
        f"in {accesses:.1%} of cycles, or a mark in {anything:.1%}"
    )  # fmt: skip
    assert rate >= 0.25
    assert not stores or anything > 0.9
