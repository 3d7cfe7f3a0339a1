"""Access buffer cycle by cycle against the golden one, with planted bugs."""

import random
from collections import deque

import pytest

from racetrap.golden_model.scord.access_buffer import AccessBuffer as GoldenBuffer
from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.rtl.scord.access_buffer import AccessBuffer
from tests.support.planted_bugs import module_with
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import simulate

KIND = TransactionKind
CONFIGURATIONS = {
    name: ScordParams(warps_per_sm=4, **settings)
    for name, settings in {
        "stall": {"access_buffer_depth": 5},
        "drop": {"access_buffer_depth": 4, "access_policy": "drop", "granularity": 8},
        "drop at depth 1": {"access_buffer_depth": 1, "access_policy": "drop"},
        "sample": {
            "access_buffer_depth": 3, "access_policy": "sample", "sample_log2": 2,
            "address_bits": 32,
        },
    }.items()
}  # fmt: skip


class Bench:
    """A buffer with a load/store unit that offers transactions in bursts, and a slow tracker."""

    def __init__(self, params, module=None, enable=1):
        self.params, self.enable = params, enable
        self.dut = (AccessBuffer if module is None else module.AccessBuffer)(params)
        self.golden = GoldenBuffer(params)
        self.rng = random.Random(str(params))
        self.held = deque()
        self.left_out = self.taken = self.waited = self.counted = 0

    def transaction(self, number):
        rng = self.rng
        return Transaction(
            rng.choice([*KIND, KIND.LOAD, KIND.STORE]),
            warp=rng.randrange(self.params.warps_per_sm),
            pc=number,
            line=rng.getrandbits(self.params.address_bits - 7),
            mask=rng.choice([rng.getrandbits(32), 1 << rng.randrange(32), (1 << 32) - 1]),
            lock_mask=rng.choice([0, 0, 1 << rng.randrange(32)]),
        )

    async def play(self, ctx, count=400):
        waiting = deque(map(self.transaction, range(count)))
        while waiting or self.held:
            self._check_fencing(ctx)
            busy, quick = ((1.0, 0.1), (0.5, 0.9))[self.taken // 40 % 2]
            self._offer(ctx, waiting, busy)
            self._take(ctx, quick)
            await ctx.tick()
            self.counted += ctx.get(self.dut.o_count)
        assert ctx.get(self.dut.o_idle)

    def _fences(self):
        return {each.warp for each in self.held if each.kind == KIND.FENCE}

    def _check_fencing(self, ctx):
        assert ctx.get(self.dut.o_fencing) == sum(1 << warp for warp in self._fences())

    def _offer(self, ctx, waiting, probability):
        """Offer the next transaction, but not a second fence of a warp; it may be taken."""
        dut, params = self.dut, self.params
        offers = bool(waiting) and self.rng.random() < probability
        if offers and waiting[0].kind == KIND.FENCE and waiting[0].warp in self._fences():
            offers = False
        ctx.set(dut.i_enable, self.enable)
        ctx.set(dut.i.valid, offers)
        if not offers:
            assert not ctx.get(dut.o_left_out)
            return
        word = params.transaction_layout.pack(waiting[0]._asdict())
        ctx.set(dut.i.payload.as_value(), word)
        # A full FIFO takes nothing in the cycle after one has left it.
        is_full = len(self.held) >= params.access_buffer_depth - 1
        if not ctx.get(dut.i.ready):
            assert is_full, "waits though there is room"
            assert not (self.enable and self.golden.takes(waiting[0], 1 << 10))
            self.waited += 1
            return
        self.taken += 1
        transaction, left_out = waiting.popleft(), ctx.get(dut.o_left_out)
        if self.enable:
            drops = params.access_policy == AccessPolicy.DROP
            assert self.golden.step(transaction, is_full=bool(left_out)) == (not left_out)
            assert not (left_out and drops) or is_full, "dropped though there is room"
        if left_out:
            self.left_out += 1
        else:
            self.held.append(transaction)

    def _take(self, ctx, probability):
        dut = self.dut
        takes = self.rng.random() < probability
        ctx.set(dut.o.ready, takes)
        if takes and ctx.get(dut.o.valid):
            word = ctx.get(dut.o.payload.as_value())
            seen = Transaction(**self.params.transaction_layout.unpack(word))
            assert seen == self.held.popleft()


def check(params, module=None, enable=1):
    bench = Bench(params, module, enable)
    simulate(bench.dut, bench.play)
    assert bench.counted == bench.golden.left_out
    return bench


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_against_the_golden_buffer(name):
    bench = check(CONFIGURATIONS[name])
    assert bench.waited > 20
    assert (bench.left_out > 50) == (name != "stall")


@pytest.mark.parametrize("name", ["drop", "sample"])
def test_nothing_is_left_out_while_the_tracker_ignores_everything(name):
    bench = check(CONFIGURATIONS[name], enable=0)
    assert (bench.left_out, bench.counted) == (0, 0)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_no_path_from_valid_to_ready(name):
    assert valid_to_ready_paths(AccessBuffer(CONFIGURATIONS[name])) == []


#: Configuration that shows the bug, what stands in the source, and what instead.
BUGS = {
    "dropped accesses are not counted": ("drop", "Mux(self.o_left_out, self._words(), 0)", "0"),
    "granules are counted as words": (
        "drop", "Mux(is_atomic, total(list(mask)), total(granules))", "total(list(mask))",
    ),
    "lines are sampled by their low bits alone": (
        "sample", "for low in range(0, len(transaction.line), params.sample_log2)",
        "for low in range(0, params.sample_log2, params.sample_log2)",
    ),
    "a fence overtakes what is in the buffer": (
        "drop", "wiring.connect(m, queue.o, wiring.flipped(self.o))",
        "is_fence = self.i.valid & (self.i.payload.kind == TransactionKind.FENCE); "
        "m.d.comb += [self.o.valid.eq(queue.o.valid), queue.o.ready.eq(self.o.ready), "
        "self.o.payload.eq(Mux(is_fence, self.i.payload, queue.o.payload))]",
    ),
    "atomics that take a lock are dropped": ("drop", " & ~transaction.lock_mask.any()", ""),
    "accesses are dropped though there is room": (
        "drop", "return is_plain & ~has_room", "return is_plain",
    ),
    "what is left out is handed on as well": (
        "sample", "queue.i.valid.eq(self.i.valid & ~leave_out)", "queue.i.valid.eq(self.i.valid)",
    ),
    "a warp does not wait for its fence in the buffer": (
        "stall", "m.d.sync += self.o_fencing[warp].eq(1)", "m.d.sync += self.o_fencing[warp].eq(0)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_planted_bug_is_caught(bug):
    name, before, after = BUGS[bug]
    with pytest.raises((AssertionError, IndexError)):
        check(CONFIGURATIONS[name], module_with("scord/access_buffer.py", (before, after)))
