"""Lock table: one operation against the golden model, then the pipelined tables of all warps."""

import random
from itertools import product

import pytest
from amaranth.hdl import ResetInserter, Signal, Value

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.lock_table import CAS_SCOPE
from racetrap.golden_model.scord.lock_table import LockTable as GoldenLockTable
from racetrap.golden_model.scord.packets import LockState
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.scord.lock_table import (
    LockOperation,
    LockTable,
    LockTables,
    lock_table_layout,
)
from tests.support.rtl.combinational import evaluate
from tests.support.rtl.streams import pulse, simulate

HELD = [state for state in LockState if state != LockState.INVALID]


def packed(params, entries):
    """The bits of a table, from (hash, state) pairs."""
    layout = lock_table_layout(params)
    padded = [*entries, *[(0, 0)] * (params.lock_table_depth - len(entries))]
    return layout.const([{"hash": lock, "state": state} for lock, state in padded]).as_bits()


def golden(params, entries, operation, lock, scope):
    """The bits of a table after an operation, by the golden model."""
    table = GoldenLockTable(params.lock_table_depth)
    table.entries = list(entries)
    if operation == LockOperation.INSERT:
        table.insert(lock, scope)
    elif operation == LockOperation.REMOVE:
        table.remove(lock, scope)
    elif operation == LockOperation.FENCE:
        table.fence(scope)
    elif operation == LockOperation.EMPTY:
        table.clear()
    return packed(params, table.entries)


def check_operations(params, cases):
    """Run cases of (entries, operation, lock, scope) and compare."""
    stimulus = [
        {
            "i_table": packed(params, entries),
            "i_operation": operation.value,
            "i_hash": lock,
            "i_scope": scope,
        }
        for entries, operation, lock, scope in cases
    ]
    results = evaluate(LockTable(params), stimulus, "o_table")
    for case, result in zip(cases, results, strict=True):
        assert result == golden(params, *case), case


def test_every_transition_of_two_entries():
    """All pairs of states x operation x scope x which of the two locks it names, or neither."""
    tables = [
        [],
        *([(3, state)] for state in HELD),
        *([(3, first), (5, second)] for first, second in product(HELD, HELD)),
        # Equal hashes are told apart by the scope of their CAS.
        *(
            [(3, first), (3, second)]
            for first, second in product(HELD, HELD)
            if CAS_SCOPE[first] != CAS_SCOPE[second]
        ),
    ]
    cases = list(product(tables, LockOperation, (3, 5, 7), Scope))
    check_operations(ScordParams(lock_table_depth=2), cases)


@pytest.mark.parametrize("depth", [1, 3, 4, 5])
def test_random_operations(depth):
    rng = random.Random(depth)
    params = ScordParams(lock_table_depth=depth)
    keys = list(product(range(60, 64), Scope))
    cases = []
    for _ in range(400):
        held = rng.sample(keys, rng.randint(0, depth))
        entries = [
            (lock, rng.choice([state for state in HELD if CAS_SCOPE[state] == scope]))
            for lock, scope in held
        ]
        lock, scope = rng.choice(keys)
        cases.append((entries, rng.choice(list(LockOperation)), lock, scope))
    check_operations(params, cases)


class Pipeline:
    """Drives ``LockTables`` as the tracker does, and records the table each operation saw."""

    def __init__(self, params):
        self.params = params
        self.dut = LockTables(params)
        self.seen = []

    async def until_ready(self, ctx):
        cycles = 0
        while ctx.get(self.dut.o_busy):
            await ctx.tick()
            cycles += 1
        return cycles

    async def run(self, ctx, operations, rng=None):
        """Issue (warp, operation, hash, scope), one a cycle, or with random pauses."""
        dut = self.dut
        for following in [*operations, None]:
            ctx.set(dut.i_fetch, following is not None)
            if following is not None:
                ctx.set(dut.i_warp, following[0])
            await ctx.tick()
            ctx.set(dut.i_fetch, 0)
            ctx.set(dut.i_commit, 0)
            if following is None:
                return
            for _ in range(rng.randint(0, 2) if rng else 0):
                await ctx.tick()
            _, operation, lock, scope = following
            ctx.set(dut.i_operation, operation)
            ctx.set(dut.i_hash, lock)
            ctx.set(dut.i_scope, scope)
            ctx.set(dut.i_commit, 1)
            self.seen.append(ctx.get(Value.cast(dut.o_table)))


def random_operations(params, rng, count):
    return [
        (
            rng.randrange(params.warps_per_sm),
            rng.choice(list(LockOperation)),
            rng.randrange(4),
            rng.choice(list(Scope)),
        )
        for _ in range(count)
    ]


def check_sequence(params, operations, seen):
    tables = [[] for _ in range(params.warps_per_sm)]
    for (warp, operation, lock, scope), table in zip(operations, seen, strict=True):
        model = GoldenLockTable(params.lock_table_depth)
        model.entries = tables[warp]
        assert table == packed(params, model.entries)
        after = golden(params, tables[warp], operation, lock, scope)
        tables[warp] = [
            (entry.hash, LockState(entry.state))
            for entry in lock_table_layout(params).from_bits(after)
            if entry.state
        ]


@pytest.mark.parametrize("warps", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("is_paused", [False, True], ids=["back-to-back", "paused"])
def test_operations_in_sequence(warps, is_paused):
    rng = random.Random(f"{warps} {is_paused}")
    params = ScordParams(warps_per_sm=warps, lock_table_depth=3)
    operations = random_operations(params, rng, 300)
    pipeline = Pipeline(params)

    async def testbench(ctx):
        await pipeline.until_ready(ctx)
        await pipeline.run(ctx, operations, rng if is_paused else None)

    simulate(pipeline.dut, testbench)
    check_sequence(params, operations, pipeline.seen)


@pytest.mark.parametrize("warps", [1, 3, 4, 5])
@pytest.mark.parametrize("by_reset", [False, True], ids=["clear", "reset"])
def test_all_tables_are_emptied(warps, by_reset):
    """By ``i_clear`` and by a reset, which leaves junk in the memory."""
    params = ScordParams(warps_per_sm=warps)
    pipeline = Pipeline(params)
    reset = Signal()
    insert = [(warp, LockOperation.INSERT, 9, Scope.DEVICE) for warp in range(warps)]
    cycles = []

    async def testbench(ctx):
        await pipeline.until_ready(ctx)
        await pipeline.run(ctx, insert)
        await pulse(ctx, reset if by_reset else pipeline.dut.i_clear)
        cycles.append(await pipeline.until_ready(ctx))
        await pipeline.run(ctx, insert)

    simulate(ResetInserter(reset)(pipeline.dut), testbench)
    assert cycles == [warps]
    assert pipeline.seen[warps:] == [0] * warps
