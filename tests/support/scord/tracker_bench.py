"""Runs a tracker beside the golden one, and short names for transactions with a purpose."""

from __future__ import annotations

from racetrap.golden_model.events import AtomicOp, Scope
from racetrap.golden_model.scord.packets import Packet, PacketKind, Transaction, TransactionKind
from racetrap.golden_model.scord.tracker import Tracker as GoldenTracker
from racetrap.rtl.scord.tracker import Tracker
from tests.support.rtl.streams import get_forever, monitor, put_all, random_idle, simulate

__all__ = [
    "ALL_WORDS",
    "TrackerBench",
    "atomic",
    "cas",
    "exch",
    "fence",
    "load",
    "random_transactions",
    "run",
]

KIND, OP = TransactionKind, AtomicOp
ALL_WORDS = (1 << 32) - 1


class TrackerBench:
    """A tracker with monitors on both streams and a sink with back-pressure."""

    def __init__(self, params, sm=0, seed=None):
        self.params = params
        self.dut = Tracker(params, sm)
        self.model = GoldenTracker(params, sm)
        self.taken = []
        self.left = []
        self.idle = {"idle": random_idle(f"{seed} get", 0.3)} if seed else {}
        self.put_idle = random_idle(f"{seed} put", 0.3) if seed else lambda: 0

    def simulate(self, testbench):
        """Run ``testbench(ctx)`` with the tracker enabled and out of reset's clearing."""

        async def ready(ctx):
            ctx.set(self.dut.i_enable, 1)
            while ctx.get(self.dut.o_busy):
                await ctx.tick()
            await testbench(ctx)
            await self.until_idle(ctx)

        simulate(
            self.dut,
            ready,
            background=[
                get_forever(self.dut.o_packet, [], **self.idle),
                monitor(self.dut.i_transaction, self.taken),
                monitor(self.dut.o_packet, self.left),
            ],
        )

    def pack(self, transaction):
        return self.params.transaction_layout.pack(transaction._asdict())

    async def play(self, ctx, transactions):
        words = [self.pack(transaction) for transaction in transactions]
        await put_all(self.dut.i_transaction, words, idle=self.put_idle)(ctx)

    async def offer(self, ctx, transaction, cycles):
        """Offer a transaction for some cycles in which it is not taken; ``put`` goes on."""
        ctx.set(self.dut.i_transaction.valid, 1)
        ctx.set(self.dut.i_transaction.payload.as_value(), self.pack(transaction))
        for _ in range(cycles):
            assert not ctx.get(self.dut.i_transaction.ready)
            await ctx.tick()

    async def until_idle(self, ctx):
        while not ctx.get(self.dut.o_idle):
            await ctx.tick()
        # The monitors see a cycle only after its clock edge.
        await ctx.tick()

    @property
    def packets(self):
        layout = self.params.packet_layout
        return [Packet(**layout.unpack(word)) for _, word in self.left]

    def cycles_of_fences(self):
        """Cycles in which fence transactions were taken, and in which their packets left."""
        unpack = self.params.transaction_layout.unpack
        taken = [cycle for cycle, word in self.taken if unpack(word)["kind"] == KIND.FENCE]
        packets = zip(self.left, self.packets, strict=True)
        left = [cycle for (cycle, _), packet in packets if packet.kind == PacketKind.FENCE]
        return taken, left

    def check(self, transactions):
        """Packets are the golden ones, and every fence waited for its packet."""
        expected = [packet for each in transactions for packet in self.model.step(each)]
        assert self.packets == expected
        taken, left = self.cycles_of_fences()
        assert all(accepted > sent for accepted, sent in zip(taken, left, strict=True))


def run(params, transactions, *, sm=0, seed=None):
    """Play ``transactions`` and check them; the bench, for its cycles."""
    bench = TrackerBench(params, sm, seed)
    bench.simulate(lambda ctx: bench.play(ctx, transactions))
    bench.check(transactions)
    return bench


def atomic(op, mask, scope=Scope.DEVICE, warp=0, slot=0, lock_mask=ALL_WORDS):
    return Transaction(KIND.ATOMIC, scope, 1, op, slot, warp, 7, 5, mask, lock_mask)


def cas(*words, **settings):
    return atomic(OP.CAS, sum(1 << word for word in words), **settings)


def exch(*words, **settings):
    return atomic(OP.EXCH, sum(1 << word for word in words), **settings)


def fence(scope=Scope.DEVICE, warp=0, slot=0):
    return Transaction(KIND.FENCE, scope, 0, 0, slot, warp, 8)


def load(warp=0, slot=0, mask=1):
    return Transaction(KIND.LOAD, 0, 1, 0, slot, warp, 9, 6, mask)


def random_transactions(params, rng, count):
    """Transactions on few lines and warps, so that locks meet."""
    masks = [
        lambda: 0,
        lambda: 1 << rng.randrange(4),
        lambda: rng.getrandbits(32) & rng.getrandbits(32) & rng.getrandbits(32),
        lambda: ALL_WORDS if rng.random() < 0.2 else 0b111,
    ]
    kinds = [*KIND, KIND.ATOMIC, KIND.ATOMIC, KIND.FENCE]
    return [
        Transaction(
            kind=rng.choice(kinds),
            scope=rng.getrandbits(1),
            strong=rng.getrandbits(1),
            op=rng.choice(list(OP)),
            slot=rng.randrange(params.blocks_per_sm),
            warp=rng.randrange(min(3, params.warps_per_sm)) or rng.randrange(params.warps_per_sm),
            pc=rng.getrandbits(params.pc_bits),
            line=rng.choice([0, 1, (1 << params.address_bits - 7) - 1]),
            mask=rng.choice(masks)(),
            lock_mask=rng.choice([0, ALL_WORDS, rng.getrandbits(32)]),
        )
        for _ in range(count)
    ]
