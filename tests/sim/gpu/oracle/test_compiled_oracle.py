"""The compiled oracle equals the Python one on random traces, with and without memory orders."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from racetrap.golden_model.barracuda.compressed import NOTHING
from racetrap.golden_model.barracuda.simt import Warp
from racetrap.golden_model.events import EventKind, MemoryOrder
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle import CompiledOracle, OracleRule, compiled_oracle
from tests.support.oracle.lane_locks import lane_locks_trace
from tests.support.oracle.programs import ALL, BLOCK, DEVICE, Program
from tests.support.oracle.random_orders import (
    with_clusters,
    with_others_between,
    with_partial_barriers,
    with_random_orders,
    with_warp_barriers,
)
from tests.support.oracle.random_traces import RandomRun
from tests.support.oracle.volume import volume_trace
from tests.support.ptx_oracle import acquisitions, oracle
from tests.support.ptx_oracle.acquisitions import OpenPatterns
from tests.support.ptx_oracle.messages import Message, Source, Team
from tests.support.ptx_oracle.oracle import PtxOracle, _Analysis
from tests.support.ptx_oracle.sc_fences import ScFences

#: In the last one, strong writes of a thread count only up to one that is ordered.
SEEDS = (*range(40), 155)


def _trace(seed):
    rng = Random(seed)
    trace = RandomRun(rng, rng.choice([10, 30, 80])).trace()
    if seed % 3:
        trace = with_random_orders(trace, rng)
    if _is_independent(seed):
        trace = with_warp_barriers(trace, rng)
    if seed % 4 > 1:
        trace = with_partial_barriers(trace, rng)
    if seed % 8 in (1, 2):
        trace = with_clusters(trace, rng, rng.choice((2, 3)))
    return with_others_between(trace, rng) if seed % 5 == 0 else trace


def _is_independent(seed):
    return seed % 2 == 1


def _run(form, seed, trace):
    return _content(form(OracleRule.CAUSALITY, _is_independent(seed)).run(trace))


def _content(result):
    def of(races):
        return sorted(
            (
                race.second.event, race.first.event, race.kind.value, race.race_class.value,
                *race.first, *race.second, race.address, race.kernel, race.instances,
                race.block_pairs,
            )
            for race in races
        )  # fmt: skip

    return of(result.races), of(result.unordered_strong), result.barrier_divergences


@pytest.fixture(scope="module")
def compiled():
    traces = {seed: _trace(seed) for seed in SEEDS}
    found = {seed: _run(CompiledOracle, seed, trace) for seed, trace in traces.items()}
    return traces, found


def _first_difference(compiled):
    traces, found = compiled
    for seed, trace in traces.items():
        if _run(PtxOracle, seed, trace) != found[seed]:
            return seed
    return None


def test_equal_to_the_plain_oracle(compiled):
    assert _first_difference(compiled) is None
    races, strong, divergences = (
        sum(len(content[part]) for content in compiled[1].values()) for part in range(3)
    )
    assert min(races, strong, 100 * divergences) > 200
    counts = [race[-2:] for content in compiled[1].values() for race in content[0]]
    assert max(counts) > (3, 0)
    assert max(pairs for _, pairs in counts) > 1


@pytest.mark.parametrize(
    ("where", "what", "wrong"),
    [
        (Source, "is_morally_strong_with", lambda one, other: one.is_strong and other.is_strong),
        (Team, "distance", lambda one, other: one.block != other.block),
        (Team, "distance", lambda one, other: 2 * (one.block != other.block)),
        (_Analysis, "_cluster_barrier", lambda *_: None),
        (_Analysis, "_exit", lambda *_: None),
        (_Analysis, "_check_end", lambda *_: None),
        (Message, "all_observers", lambda *_: iter(())),
        (Message, "overwritten_by", lambda *_: ()),
        (OpenPatterns, "release_operation", lambda *_: None),
        (OpenPatterns, "release_fence", lambda *_: None),
        (OpenPatterns, "acquire", lambda *_: []),
        (OpenPatterns, "_synchronise", lambda *_: None),
        (acquisitions, "_tells_more", lambda *_: True),
        (Warp, "acquire", lambda *_: None),
        (Warp, "pass_barrier", lambda *_: None),
        (_Analysis, "_synchronise", lambda *_: None),
        (_Analysis, "_published", lambda *_: []),
        (_Analysis, "_barrier_of", lambda *_: 0),
        (ScFences, "add", lambda *_: None),
        (ScFences, "_is_communicated", lambda *_: True),
        (oracle, "read", lambda *_: NOTHING),
        (oracle, "ACQUIRING", (MemoryOrder.ACQUIRE,)),
        (oracle, "RELEASING", (MemoryOrder.RELEASE,)),
    ],
)
def test_a_planted_difference_is_found(compiled, monkeypatch, where, what, wrong):
    monkeypatch.setattr(where, what, wrong)
    assert _first_difference(compiled) is not None


def _judged(events, lanes, seed):
    with CompiledOracle(OracleRule.CAUSALITY, _is_independent(seed)).running() as run:
        run.feed(events, lanes, 0)
        return run.end()


@pytest.mark.parametrize("seed", range(20))
def test_numbers_of_warps_make_no_difference(compiled, seed):
    """Before each cluster come blocks that do nothing, so warps have times in several subtrees."""
    trace = compiled[0][seed]
    is_placed = trace.events["kind"] == EventKind.BLOCK_PLACED
    placed = np.flatnonzero(is_placed & (trace.events["size"] == 0))
    idle = trace.events[np.repeat(placed, 24)].copy()
    idle["sm"], idle["slot"], idle["warp"], idle["warp_count"] = 255, 255, 0, 200
    idle["kind"][1::2] = EventKind.BLOCK_RETIRED
    rows = np.insert(np.arange(len(trace)), np.repeat(placed, 24), 0)
    found = _judged(np.insert(trace.events, np.repeat(placed, 24), idle), trace.lanes, seed)
    for races in (found.races, found.unordered_strong):
        races[:] = [
            replace(race, **{
                name: party._replace(event=rows[party.event])
                for name, party in (("first", race.first), ("second", race.second))
            })
            for race in races
        ]  # fmt: skip
    assert _content(found) == _content(_judged(trace.events, trace.lanes, seed))


def test_both_rules():
    program = Program()
    program.store((0, 0), 0x80)
    program.load((1, 0), 0x80)
    for rule in OracleRule:
        plain, fast = (form(rule).run(program.trace) for form in (PtxOracle, CompiledOracle))
        assert _content(plain) == _content(fast)
        assert len(fast) == (rule is OracleRule.CAUSALITY)


def test_many_threads_at_one_place():
    """Lists of accesses that are cleared up, and what is known to be ordered of them."""
    program = Program(blocks=4)
    for _ in range(12):
        for block in range(4):
            program.weak_load((block, 0), 0, lanes=ALL, pc=0x50 + block)
            program.atomic((block, 1), 0x80, lanes=ALL, pc=0x80)
        for block in range(4):
            program.fence((block, 1), 1, lanes=ALL, pc=0x90)
            program.barrier(block)
        program.weak_store((2, 0), 0, pc=0xA0)
        program.weak_load((3, 1), 0x80, lanes=5, pc=0xA8)
    for rule in OracleRule:
        plain, fast = (form(rule).run(program.trace) for form in (PtxOracle, CompiledOracle))
        assert _content(plain) == _content(fast)
        assert len(fast) == 4


def test_a_large_race_free_trace():
    result = CompiledOracle(OracleRule.CAUSALITY).run(volume_trace(20_000, 2048))
    assert not result.races
    assert result.unordered_strong


def test_synchronisation_lane_by_lane():
    trace = lane_locks_trace(2)
    assert not CompiledOracle(OracleRule.CAUSALITY).run(trace).races
    broken = trace.events.copy()
    broken["scope"][broken["pc"] == 0x44] = 0  # fences behind the CAS, of block scope
    racy = Trace(trace.header, broken, trace.lanes)
    plain, fast = (form(OracleRule.CAUSALITY).run(racy) for form in (PtxOracle, CompiledOracle))
    assert fast.races
    assert _content(plain) == _content(fast)


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize(("lanes", "scope"), [(1, DEVICE), (1, BLOCK), (ALL - 1, BLOCK)])
def test_a_fence_far_back_still_orders(independent, lanes, scope):
    """Store buffering: the first of many fences of its warp precedes another's by a read."""
    program = Program()
    program.branch((0, 0), 1)
    program.weak_store((0, 0), 0)
    program.fence((0, 0), DEVICE)
    program.load((0, 0), 0x80, order=MemoryOrder.RELAXED)
    if lanes != 1:
        program.other_side((0, 0), lanes)
    for _ in range(70):
        program.fence((0, 0), scope, lanes)
    program.store((1, 0), 0x80, order=MemoryOrder.RELAXED)
    program.fence((1, 0), DEVICE)
    program.weak_load((1, 0), 0)
    plain, fast = (
        form(OracleRule.CAUSALITY, independent).run(program.trace)
        for form in (PtxOracle, CompiledOracle)
    )
    assert not plain.races
    assert _content(plain) == _content(fast)


@pytest.mark.parametrize("independent", [False, True])
def test_weak_accesses_communicate_the_past_of_their_own_warp(independent):
    program = Program()
    program.fence((0, 1), DEVICE)
    program.weak_store((0, 1), 0x40)
    program.weak_store((0, 0), 0)
    program.fence((0, 0), DEVICE)
    program.weak_store((0, 0), 0x80)
    program.weak_load((1, 0), 0x80)
    program.fence((1, 0), DEVICE)
    program.weak_load((1, 0), 0)
    plain, fast = (
        form(OracleRule.CAUSALITY, independent).run(program.trace)
        for form in (PtxOracle, CompiledOracle)
    )
    assert [race.address for race in plain.races] == [0x80]
    assert _content(plain) == _content(fast)


def test_weak_accesses_communicate_the_past_of_their_own_lane():
    """Of two lanes with an access in common one knows more."""
    program = Program(blocks=3)
    program.weak_store((1, 0), 0)
    program.fence((1, 0), DEVICE)
    program.store((1, 0), 0x80, order=MemoryOrder.RELAXED)
    program.load((0, 0), 0x80, lanes=2, order=MemoryOrder.RELAXED)
    program.fence((0, 0), DEVICE, lanes=2, order=MemoryOrder.ACQUIRE)
    program.weak_store((0, 0), 0x100, lanes=3, stride=4)
    program.weak_load((2, 0), 0x104)
    program.fence((2, 0), DEVICE)
    program.weak_load((2, 0), 0)
    plain, fast = (
        form(OracleRule.CAUSALITY, True).run(program.trace) for form in (PtxOracle, CompiledOracle)
    )
    assert [race.address for race in plain.races] == [0x104]
    assert _content(plain) == _content(fast)


def test_too_many_warps(monkeypatch):
    monkeypatch.setattr(compiled_oracle, "_MOST_WARPS", 3)
    with pytest.raises(ValueError, match=r"Warps of a kernel must be at most 3, not 4"):
        CompiledOracle(OracleRule.PTX).run(Program().trace)
