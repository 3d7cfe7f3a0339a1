"""Register slice and FIFO: order, rate, latency, structure."""

from itertools import pairwise

import pytest

from racetrap.rtl.common.stream import StreamFifo, StreamRegister
from tests.support.rtl.ready_paths import valid_to_ready_paths
from tests.support.rtl.streams import get_all, monitor, put_all, random_idle, shared, simulate

BLOCKS = {
    "register": lambda: StreamRegister(8),
    **{f"fifo{depth}": lambda depth=depth: StreamFifo(8, depth) for depth in (1, 2, 3, 4, 5)},
}


@pytest.fixture(params=BLOCKS, ids=str)
def dut(request):
    return BLOCKS[request.param]()


@pytest.mark.parametrize("seed", range(3))
def test_payloads_pass_in_order(dut, seed):
    sent, got = list(range(100)), []
    simulate(
        dut,
        put_all(dut.i, sent, idle=random_idle(f"{seed} put")),
        get_all(dut.o, len(sent), got, idle=random_idle(f"{seed} get")),
    )
    assert got == sent


def test_no_path_from_valid_to_ready(dut):
    assert valid_to_ready_paths(dut) == []


@pytest.mark.parametrize(
    ("name", "latency", "interval"),
    [("register", 1, 1), ("fifo1", 1, 2), ("fifo2", 2, 2), ("fifo3", 2, 1), ("fifo4", 2, 1)],
)
def test_latency_and_rate_are_as_documented(name, latency, interval):
    dut = BLOCKS[name]()
    taken, left = [], []
    simulate(
        dut,
        put_all(dut.i, range(20)),
        get_all(dut.o, 20, []),
        background=[monitor(dut.i, taken), monitor(dut.o, left)],
    )
    assert left[0][0] - taken[0][0] == latency
    cycles = [cycle for cycle, _ in left]
    assert {after - before for before, after in pairwise(cycles)} == {interval}


def test_register_holds_its_payload_while_it_waits():
    dut = StreamRegister(8)
    seen = []

    async def stalled(ctx):
        for _ in range(6):
            *_, valid, payload = await ctx.tick().sample(dut.o.valid, dut.o.payload)
            seen.append((valid, payload))

    simulate(dut, put_all(dut.i, [7]), stalled)
    assert seen == [(0, 0)] + [(1, 7)] * 5


def test_a_shared_design_starts_each_run_as_at_first():
    """A FIFO is empty, whatever the run before has left in it."""
    dut, seen = shared(StreamFifo, 8, 4), []
    assert shared(StreamFifo, 8, 4) is dut

    async def look(ctx):
        seen.append(ctx.get(dut.o.valid))
        while not ctx.get(dut.o.valid):
            await ctx.tick()
        seen.append(ctx.get(dut.o.payload))

    for word in (7, 9):
        simulate(dut, put_all(dut.i, [word, 1]), look)
    assert seen == [0, 7, 0, 9]


def test_fifo_depth_must_be_positive():
    with pytest.raises(ValueError, match=r"^Stream FIFO depth must be at least 1, not 0$"):
        StreamFifo(8, 0)
