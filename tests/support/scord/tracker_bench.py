"""Runs a tracker beside the golden one, and short names for transactions with a purpose."""

from __future__ import annotations

from amaranth.hdl import Const

from racetrap.golden_model.events import AtomicOp, Scope
from racetrap.golden_model.scord.packets import Packet, PacketKind, Transaction, TransactionKind
from racetrap.golden_model.scord.tracker import Tracker as GoldenTracker
from racetrap.rtl.scord.lock_hash import block_masks_of
from racetrap.rtl.scord.tracker import Tracker
from tests.support.rtl.streams import get_forever, monitor, put_all, random_idle, shared, simulate

KIND, OP = TransactionKind, AtomicOp
ALL_WORDS = (1 << 32) - 1


class TrackerBench:
    """A tracker with monitors on both streams and a sink with back-pressure.

    Every bank has a fence ``fence_cycles`` after its packet left.
    """

    fence_cycles = 3

    def __init__(self, params, sm=0, seed=None):
        self.params = params
        self.dut = shared(Tracker, params)
        self._sm = sm
        self.model = GoldenTracker(params, sm)
        self.taken = []
        self.left = []
        self.done = []
        self.idle = {"idle": random_idle(f"{seed} get", 0.3)} if seed else {}
        self.put_idle = random_idle(f"{seed} put", 0.3) if seed else lambda: 0

    def simulate(self, testbench):
        """Run ``testbench(ctx)`` with the tracker enabled and out of reset's clearing."""

        async def ready(ctx):
            ctx.set(self.dut.i_sm, self._sm)
            ctx.set(self.dut.i_block_masks, Const.cast(block_masks_of(self.params, self._sm)).value)
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
                self._banks,
            ],
        )

    async def _banks(self, ctx):
        """Tell of each fence when all banks have it; ``done`` has the cycle and the warp."""
        port, cycle, due = self.dut.o_packet, 0, []
        while True:
            sampled = ctx.tick().sample(port.valid, port.ready, port.p.kind, port.p.warp)
            *_, valid, ready, kind, warp = await sampled
            cycle += 1
            if valid and ready and kind == PacketKind.FENCE:
                due.append((cycle + self.fence_cycles - 1, warp))
            now = [each for each in due if each[0] == cycle]
            self.done += now
            due = [each for each in due if each not in now]
            ctx.set(self.dut.i_fenced, sum(1 << warp for _, warp in now))

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

    def check(self, transactions):
        """Packets are the golden ones, and what follows a fence waited until it was done."""
        expected = [packet for each in transactions for packet in self.model.step(each)]
        assert self.packets == expected
        done = iter(self.done)
        pending = []  # (cycle in which the fence was done, warp, slot)
        layout = self.params.transaction_layout
        for cycle, word in self.taken:
            transaction = Transaction(**layout.unpack(word))
            if transaction.kind == KIND.BARRIER:
                late = [at for at, _, slot in pending if slot == transaction.slot]
            elif transaction.kind == KIND.BLOCK_START:
                late = []
            else:
                late = [at for at, warp, _ in pending if warp == transaction.warp]
            assert max(late, default=-1) < cycle, transaction
            if transaction.kind == KIND.FENCE:
                at, warp = next(done)
                assert warp == transaction.warp
                pending.append((at, warp, transaction.slot))


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
