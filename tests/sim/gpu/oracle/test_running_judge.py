"""The judge of a run that goes on: what it finds, and what it keeps."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import zip_longest

import numpy as np
import pytest

from racetrap.golden_model.events import EventKind, MemoryOrder
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle import CompiledOracle, OracleRule, RunningJudge, judge_trace
from tests.sim.gpu.oracle.test_compiled_oracle import _content, _is_independent, _trace
from tests.support.oracle import left_out
from tests.support.oracle.programs import ALL, BLOCK, DEVICE, Program
from tests.support.oracle.volume import ended_bytes, fed_again, kept_bytes
from tests.support.ptx_oracle.oracle import PtxOracle


def _without_parts(trace):
    """A trace none of whose fences is part of an access, as those are that come with it."""
    events = trace.events.copy()
    events["pc"] += ((events["kind"] == EventKind.FENCE) << 20).astype(np.uint32)
    return Trace(trace.header, events, trace.lanes)


def _parts(trace):
    """Arguments by which a run is fed with five events at a time."""
    lanes = np.append(trace.events["first_lane"], len(trace.lanes)).astype(int)
    for first in range(0, len(trace), 5):
        end = min(first + 5, len(trace))
        yield trace.events[first:end], trace.lanes[lanes[first] : lanes[end]], int(lanes[first])


@pytest.mark.parametrize("seed", range(8))
def test_parts_of_a_run_are_judged_like_the_whole(seed):
    trace, independent = _without_parts(_trace(seed)), _is_independent(seed)
    judge = RunningJudge(OracleRule.CAUSALITY, independent)
    for part in _parts(trace):
        judge.feed(*part)
    running, whole = judge.end(), judge_trace(trace, "causality", independent)
    assert _content(running.result) == _content(whole.result)
    assert running.ordered_by_lockstep == whole.ordered_by_lockstep
    assert running.events == whole.events == len(trace)


def test_runs_in_turn_are_judged_apart():
    """Of each trace two: one whose end another thread asks for, one that is closed half-way."""
    traces = [_without_parts(_trace(seed)) for seed in (3, 4)]
    oracles = [CompiledOracle(OracleRule.CAUSALITY, _is_independent(seed)) for seed in (3, 4)]
    with ExitStack() as runs_end, ThreadPoolExecutor(1) as thread:
        half, runs = [
            [runs_end.enter_context(oracle.running()) for oracle in oracles] for _ in range(2)
        ]
        for number, parts in enumerate(zip_longest(*map(_parts, traces))):
            for run, part in zip(half + runs, parts * 2, strict=True):
                if part:
                    run.feed(*part)
            if number == 5:
                for run in half:
                    run.close()
        found = [thread.submit(run.end).result() for run in runs]
    for oracle, trace, each in zip(oracles, traces, found, strict=True):
        assert _content(each) == _content(oracle.run(trace))


def test_concurrent_kernels_are_told():
    found = []
    for stream in (0, 1):
        trace = Program().trace
        events = np.concatenate((trace.events, trace.events))
        events["grid_block"][np.flatnonzero(events["kind"] == EventKind.KERNEL_BEGIN)[1]] = stream
        judge = RunningJudge(OracleRule.CAUSALITY, False)
        judge.feed(events, trace.lanes, 0)
        found.append(judge.end().has_concurrent_kernels)
    assert found == [False, True]


@pytest.mark.parametrize("independent", [False, True])
def test_more_accesses_than_are_kept_are_at_least_so_many(independent):
    """Seven blocks read a word twice, which another then writes."""
    program = Program(blocks=8)
    for number in range(14):
        program.weak_load((number % 7, number // 7), 0, pc=0x50 + 8 * number)
    program.weak_store((7, 0), 0, pc=0x20)
    found = CompiledOracle(OracleRule.CAUSALITY, independent).run(program.trace).races
    assert len(found) == 8
    assert {race.is_least for race in found} == {True}


@pytest.mark.parametrize(("of_two", "most"), [(False, 16), (True, 100)])
def test_bytes_of_a_location(of_two, most):
    """Those of the judge for words that one warp reads and writes, or two, beside other memory."""
    assert kept_bytes(1 << 17, of_two) < most


@pytest.mark.parametrize("independent", [False, True])
def test_bytes_of_a_warp_that_has_ended(independent):
    assert ended_bytes(200, independent) < 300


@pytest.mark.parametrize("independent", [False, True])
def test_memory_does_not_grow_with_the_run(independent):
    """A tenth of the events takes as much as all, but for the pools of what is freed."""
    counts = 10_000, 100_000
    short, long = (fed_again(2048, count, independent).megabytes for count in counts)
    assert long < 1.3 * short + 0.5


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("written", [left_out.many_readers, left_out.many_blocks])
def test_a_race_that_is_not_found_is_told(written, independent):
    """What is no longer kept, and nothing stands for it."""
    plain, fast = _both(written([0]), independent)
    assert len(plain.races) == 1
    assert (len(fast.races), fast.partly_judged) == (0, 1)


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize(
    ("written", "races"),
    [
        (left_out.read_by_all, 0), (left_out.behind_a_barrier, 0), (left_out.last_block, 0),
        (left_out.under_a_lock, 0),
        (left_out.read_and_then_raced_with, 1),
    ],
)  # fmt: skip
def test_what_is_left_out_without_loss_is_not_told(written, races, independent):
    plain, fast = _both(written(), independent)
    assert (len(plain.races), len(fast.races), fast.partly_judged) == (races, races, 0)


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("ends", [False, True])
def test_a_fence_counts_when_its_block_has_passed_a_barrier_or_ended(ends, independent):
    """It precedes another by a flag that a second thread of its block stores."""
    program = Program()
    program.weak_store((0, 0), 0, lanes=ALL, stride=4)
    program.fence((0, 0), DEVICE, lanes=ALL)
    program.barrier(0)
    program.store((0, 1), 0x80, order=MemoryOrder.RELAXED)
    if ends:
        program.end_block(0)
    else:
        program.fence((0, 0), DEVICE, lanes=ALL)
    program.load((1, 0), 0x80, order=MemoryOrder.RELAXED)
    program.fence((1, 0), DEVICE)
    program.weak_load((1, 0), 20)
    plain, fast = _both(program.trace, independent)
    assert (plain.races, fast.races) == ([], [])


@pytest.mark.parametrize("independent", [False, True])
def test_fences_of_an_ended_warp_are_those_of_each_lane(independent):
    """Only one of its lanes has acquired what another block has stored."""
    program = Program(blocks=3)
    program.weak_store((2, 0), 0)
    program.fence((2, 0), DEVICE)
    program.store((2, 0), 0x40, order=MemoryOrder.RELAXED)
    program.load((0, 0), 0x40, lanes=2, order=MemoryOrder.RELAXED)
    program.fence((0, 0), DEVICE, lanes=ALL)
    program.barrier(0)
    program.store((0, 1), 0x80, order=MemoryOrder.RELAXED)
    program.end_block(0)
    program.load((1, 0), 0x80, order=MemoryOrder.RELAXED)
    program.fence((1, 0), DEVICE)
    program.weak_load((1, 0), 0)
    plain, fast = _both(program.trace, independent)
    assert (plain.races, fast.races) == ([], [])


@pytest.mark.parametrize("independent", [False, True])
def test_what_is_observed_until_a_fence_adds_up(independent):
    program = Program(warps=3)
    for warp in (0, 1):
        program.weak_store((0, warp), 64 * warp)
        program.fence((0, warp), BLOCK, order=MemoryOrder.RELEASE)
        program.store((0, warp), 0x80, scope=BLOCK, order=MemoryOrder.RELAXED, pc=0x60)
        program.load((0, 2), 0x80, scope=BLOCK, order=MemoryOrder.RELAXED, pc=0x70)
    program.fence((0, 2), BLOCK, order=MemoryOrder.ACQUIRE)
    program.weak_load((0, 2), 0)
    program.weak_load((0, 2), 64)
    plain, fast = _both(program.trace, independent)
    assert (plain.races, fast.races) == ([], [])


@pytest.mark.parametrize("independent", [False, True])
def test_a_fence_of_block_scope_counts_until_a_barrier(independent):
    """It precedes another since its thread reads what the other's has not written yet."""
    program = Program()
    program.weak_store((0, 0), 0)
    program.fence((0, 0), BLOCK)
    program.load((0, 0), 0x80, order=MemoryOrder.RELAXED)
    program.fence((0, 0), BLOCK)
    program.store((0, 1), 0x80, order=MemoryOrder.RELAXED)
    program.fence((0, 1), BLOCK)
    program.weak_load((0, 1), 0)
    plain, fast = _both(program.trace, independent)
    assert (plain.races, fast.races) == ([], [])


def _both(trace, independent):
    return (
        form(OracleRule.CAUSALITY, independent).run(trace) for form in (PtxOracle, CompiledOracle)
    )
