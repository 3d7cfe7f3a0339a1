"""Exact cycles of the Race Detection Module at the paper's 8 threads and 16 entries.

Times do not depend on the size of signatures, which are small here.
"""

from dataclasses import replace
from random import Random

import pytest

from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.packets import RdmStepKind
from racetrap.golden_model.sigrace.params import SigraceParams
from tests.support.campaign import later_but
from tests.support.sigrace.messages import random_message, random_set
from tests.support.sigrace.rdm_bench import RdmBench, read, write

PARAMS = SigraceParams(filters=2, filter_bits=16)
THREADS, DEPTH = PARAMS.threads, PARAMS.history_depth
NOTHING = AddressSet()
WRITTEN = {"read": NOTHING, "write": AddressSet(1, [0])}


def message(rng, core, sequence, own, heard, sets=None):
    """A block of the thread on ``core``; it has heard of time ``heard`` of all others."""
    timestamp = tuple(own if thread == core else heard for thread in range(THREADS))
    sets = sets or {"read": NOTHING, "write": NOTHING}
    return random_message(
        PARAMS, rng, core=core, context=0, thread=core, sequence=sequence % 256,
        timestamp=timestamp, **sets,
    )  # fmt: skip


async def begin(ctx, bench):
    for core in range(THREADS):
        await write(ctx, bench.port, "MAP_SELECT", core=core)
        await write(ctx, bench.port, "MAP", thread=core, valid=1)
    await write(ctx, bench.port, "CONTROL", enable=1)


def cycles_by_message(bench) -> list[tuple[int, int]]:
    """Cycles from the check of each message to its push, and its comparisons."""
    result, compared = [], 0
    checks = iter(bench.checks)
    for cycle, step in bench.steps:
        if PARAMS.rdm_step_layout.unpack(step)["kind"] == RdmStepKind.COMPARE:
            compared += 1
        else:
            result.append((cycle - next(checks), compared))
            compared = 0
    return result


def searched(scanners: int, entries: int) -> int:
    """Cycles of a message of thread 0 from check to push, if no conflict is logged."""
    # An entry a cycle and 3 more for a queue; one cycle for the own queue.
    of_queue = [1, *[entries + 3] * (THREADS - 1)]
    return max(sum(of_queue[scanner::scanners]) for scanner in range(scanners)) + 1


@pytest.mark.parametrize("scanners", later_but(lambda number: number == 7, [1, 2, 4, 7, 8]))
def test_exact_cycles(scanners):
    """All queues are full of blocks of time 1 to 16, one of which has written something."""
    bench = RdmBench(replace(PARAMS, scanners=scanners))
    rng = Random("timing")
    last = [
        message(rng, 0, DEPTH, 100, 0),
        message(rng, 0, DEPTH + 1, 101, 0, WRITTEN),
        message(rng, 0, DEPTH + 2, 102, 100),
    ]

    async def software(ctx):
        await begin(ctx, bench)
        for sequence in range(DEPTH):
            for core in range(THREADS):
                sets = WRITTEN if (core, sequence) == (3, 5) else None
                flits = message(rng, core, sequence, 1 + sequence, sequence, sets)
                await bench.send(ctx, core, flits)
        for flits in last:
            await bench.send(ctx, 0, flits)

    bench.run(software)
    worst, logging, usual = cycles_by_message(bench)[-3:]
    assert worst == (searched(scanners, DEPTH), 7 * DEPTH)
    # The same with a conflict: its entry is read again, once the queues before it are done.
    assert logging == (worst[0] + {1: 4, 2: 4, 4: 8, 7: 7, 8: 8}[scanners], 7 * DEPTH)
    # The newest entry of each queue precedes the message.
    assert usual == (searched(scanners, 1), 7)


@pytest.mark.campaign
def test_eight_cores_without_stalls():
    """Each core sends a message every 2,000 cycles, all at the same time, and none waits."""
    period = 2000
    bench = RdmBench(PARAMS)
    rounds = 2
    stalls = []

    def core(number):
        rng = Random(f"core {number}")

        async def testbench(ctx):
            for _ in range(300):  # software has started by then
                await ctx.tick()
            for sequence in range(rounds):
                sets = {name: random_set(PARAMS, rng, 8) for name in ("read", "write")}
                # As many flits as the link holds, so that no message must wait for another.
                flits = message(rng, number, sequence, 1 + sequence, 0, sets)
                assert len(flits) <= PARAMS.link_depth + 1
                await bench.send(ctx, number, flits)
                for _ in range(period - len(flits)):
                    await ctx.tick()

        return testbench

    async def software(ctx):
        await begin(ctx, bench)

    async def finish(ctx):
        stalls.append(await read(ctx, bench.port, "STALL_CYCLES"))

    bench.run(software, *(core(number) for number in range(THREADS)), finish=finish)
    assert bench.model.counters["messages"] == rounds * THREADS
    assert stalls == [0]
    # The last of the messages that come at the same time is done before the next ones come.
    for turn in range(rounds):
        checked = bench.checks[THREADS * turn : THREADS * (turn + 1)]
        assert checked[-1] - checked[0] < period // 2
