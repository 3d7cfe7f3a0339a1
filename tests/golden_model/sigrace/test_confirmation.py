"""Confirmation: what two blocks have in common, and programs with and without address rings."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from racetrap.golden_model.sigrace.address_ring import AddressRing
from racetrap.golden_model.sigrace.confirmation import Confirmation
from racetrap.golden_model.sigrace.conflict_log import RollbackWhen
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.packets import BlockName, Conflict, LogEntry
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.result import SigraceResult
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.events import ThreadEventKind
from racetrap.sim.cpu.random_run import random_run
from tests.golden_model.sigrace.test_sigrace import COARSE
from tests.golden_model.sigrace.test_sigrace_random import configuration, plain_races
from tests.support.sigrace.programs import ThreadProgram
from tests.support.threads.random_traces import random_thread_trace

ENTRY = LogEntry(
    0, 1, Conflict.WRITE_WRITE, (1, 0), (0, 1), 1, BlockName(0, 0, 0), BlockName(1, 0, 0)
)


def confirmation(
    one: list[tuple[int, int, bool]], other: list[tuple[int, int, bool]]
) -> Confirmation:
    """Two rings with a block each."""
    rings = {(0, 0): AddressRing(8, 4), (1, 0): AddressRing(8, 4)}
    for ring, accesses in zip(rings.values(), (one, other), strict=True):
        for access in accesses:
            ring.record(*access)
        ring.end()
    return Confirmation(rings)


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [
        ([(0x10, 0xF, True)], [(0x10, 0x1, False)], {0x10}),
        ([(0x10, 0xF, False)], [(0x10, 0x8, True)], {0x10}),
        ([(0x10, 0xF, True)], [(0x10, 0x8, True)], {0x10}),
        ([(0x10, 0xF, False)], [(0x10, 0xF, False)], set()),
        ([(0x10, 0x3, True)], [(0x10, 0xC, True)], set()),
        ([(0x10, 0xF, True)], [(0x14, 0xF, True)], set()),
        ([(0x10, 0xF, True), (0x14, 0xF, True)], [(0x14, 1, True), (0x10, 1, True)], {0x10, 0x14}),
        ([(0x10, 1, False), (0x20, 1, True)], [(0x10, 0xF, True), (0x20, 1, False)], {0x10, 0x20}),
    ],
)  # fmt: skip
def test_common_granules(
    one: list[tuple[int, int, bool]], other: list[tuple[int, int, bool]], common: set[int]
) -> None:
    assert confirmation(one, other).common(ENTRY) == common
    assert confirmation(other, one).common(ENTRY) == common


def test_blocks_are_read_once_for_each_request() -> None:
    both = confirmation([(0x10, 0xF, True)], [(0x10, 0xF, True), (0x20, 0xF, True)])
    for _ in range(2):
        both.common(ENTRY)
    assert (both.read, both.written) == (3, 3)
    both.begin()
    both.common(ENTRY)
    assert both.read == 6


def test_a_block_that_is_gone() -> None:
    both = confirmation([(0x10, 0xF, True)], [(0x10, 0xF, True)])
    assert both.common(ENTRY._replace(block=BlockName(0, 0, 1))) is None
    assert both.common(ENTRY._replace(other_block=BlockName(1, 0, 1))) is None
    with pytest.raises(ValueError, match="names of its blocks"):
        both.common(ENTRY._replace(block=None))


def run(program: ThreadProgram, ring_depth: int = 64, **settings: object) -> SigraceResult:
    """SigRace with coarse signatures, whose conflicts are often false."""
    chosen = {name: settings.pop(name) for name in ("rollback_when",) if name in settings}
    params = SigraceParams(cores=4, threads=4, **{**COARSE, **settings})  # type: ignore[arg-type]
    return Sigrace(params, ring_depth=ring_depth, **chosen).run(program.trace())  # type: ignore[arg-type]


def all_over(threads: int = 2) -> ThreadProgram:
    """Stores that conflict by signatures alone."""
    program = ThreadProgram(threads)
    for thread in range(threads):
        for place in range(32):
            program.store(thread, 0x1000_0000 * (thread + 1) + 0x104 * place)
    return program


def test_a_false_conflict_is_dismissed() -> None:
    without, found = run(all_over(), 0), run(all_over())
    assert without.statistics.conflicts_dismissed == without.statistics.ring_writes == 0
    assert (sum(without.statistics.rollbacks.values()), without.false_positives) == (1, 1)
    assert (found.conflicts, found.statistics.conflicts_dismissed) == (1, 1)
    assert (found.statistics.rollbacks, found.false_positives) == ({}, 0)
    assert found.statistics.repeated == 0
    assert found.statistics.ring_reads == found.statistics.ring_writes > 32


def test_a_real_conflict_is_analysed() -> None:
    program = all_over()
    program.store(0, 0x5000, pc=0x40)
    program.load(1, 0x5000, pc=0x44)
    found = run(program)
    assert [race.static_key for race in found.races] == [(0x40, 0x44)]
    assert found.statistics.conflicts_dismissed == 0
    assert sum(found.statistics.rollbacks.values()) == 1


def test_different_bytes_are_no_race_and_need_no_rollback() -> None:
    program = ThreadProgram(2)
    program.store(0, 0x5000, size=1)
    program.store(1, 0x5003, size=1)
    assert run(program, 0).false_sharing
    found = run(program)
    assert (found.races, found.false_sharing, found.statistics.rollbacks) == ([], [], {})


def test_without_its_block_a_conflict_is_analysed() -> None:
    """As without a ring, and counted."""
    found = run(all_over(), 4)
    assert (found.statistics.conflicts_unheld, found.statistics.conflicts_dismissed) == (1, 0)
    assert found.false_positives == 1
    assert found.statistics.repeated_for_nothing == found.statistics.repeated > 0


def test_addresses_that_were_analysed_need_no_second_analysis() -> None:
    """The second conflict of the epochs has other false bits, but the same common address."""
    program = ThreadProgram(2)
    for scattered in (1, 30):
        for thread in range(2):
            for place in range(scattered):
                program.store(thread, 0x1000_0000 * (thread + 1) + 0x104 * place)
            program.store(thread, 0x5000, pc=0x40 + thread, instructions=40)
    settings = {"block_instructions": 40, "log_depth": 1}
    without, found = run(program, 0, **settings), run(program, **settings)
    assert found.races == without.races
    assert len(found.races) == 1
    assert sum(found.statistics.rollbacks.values()) == 1
    assert sum(without.statistics.rollbacks.values()) > 1


def test_the_rdm_waits_for_a_full_log() -> None:
    """Three threads' blocks conflict with that of the fourth, and one conflict fits."""
    program = ThreadProgram(4)
    for thread in range(3):
        program.store(thread, 0x5000 + 0x1000 * thread)
        program.synchronise(thread)
    for thread in range(3):
        program.load(3, 0x5000 + 0x1000 * thread)
    without, found = run(program, 0, log_depth=1), run(program, log_depth=1)
    assert (len(without.races), without.statistics.conflicts_dropped) == (1, 2)
    assert (len(found.races), found.statistics.conflicts_dropped) == (3, 0)
    assert found.statistics.rollbacks == {"full": 3}


def test_blocks_of_a_thread_that_has_moved_are_in_its_old_ring() -> None:
    rng = random.Random("moved")
    trace = random_thread_trace(5, 4, events=400)
    params, _ = configuration(rng, 4)
    environment = Environment("migration", quantum=30)
    found = Sigrace(params, environment, 10**9, ring_depth=1 << 14).run(trace)
    assert found.statistics.conflicts_dismissed > 0
    assert set(found.races) <= plain_races(trace)


@pytest.mark.parametrize("seed", range(40))
def test_no_race_is_lost_to_rings(seed: int) -> None:
    """Queues without limit: then a false conflict cannot help by luck, and rings lose nothing."""
    rng = random.Random(f"confirmed {seed}")
    threads = rng.randint(2, 5)
    trace = random_thread_trace(seed, threads, events=rng.randint(50, 400))
    params, environment = configuration(rng, threads)
    depth = rng.choice([1, 20, 1 << 14])
    found = Sigrace(params, environment, 10**9, unbounded=True, ring_depth=depth).run(trace)
    assert set(found.races) == plain_races(trace)


def test_nothing_is_executed_again_for_nothing() -> None:
    """While rings hold the blocks, and no memory is allocated again."""
    confirmed = 0
    for seed in range(60):
        rng = random.Random(f"nothing {seed}")
        trace = random_run(seed, threads=4, events=rng.randint(50, 400))
        if (trace.events["kind"] == ThreadEventKind.ALLOCATE).any():
            continue
        params = replace(configuration(rng, 4)[0], cores=4, sequence_bits=8)
        found = Sigrace(params, Environment("fixed"), 10**9, ring_depth=1 << 14).run(trace)
        assert found.statistics.conflicts_unheld == 0, seed
        assert found.statistics.repeated_for_nothing == found.false_positives == 0, seed
        confirmed += sum(found.statistics.rollbacks.values())
    assert confirmed > 20


def two_conflicts() -> ThreadProgram:
    """A conflict, a block after it, a synchronisation, and another conflict."""
    program = ThreadProgram(2)
    program.store(0, 0x5000, instructions=10)
    program.load(1, 0x5000, instructions=10)
    program.load(1, 0x5000, instructions=10)
    program.synchronise(1)
    program.synchronise(0)
    program.store(0, 0x6000)
    program.synchronise(0)
    program.load(1, 0x6000)
    return program


@pytest.mark.parametrize(
    ("when", "depth", "reasons"),
    [
        (RollbackWhen.BLOCKS, 9, {"blocks": 1, "sync": 1}),
        (RollbackWhen.SYNC, 9, {"sync": 1}),
        (RollbackWhen.LOG_FULL, 9, {"end": 1}),
        (RollbackWhen.CHECKPOINT, 9, {"end": 1}),
        (RollbackWhen.SYNC, 1, {"full": 2}),
        (RollbackWhen.LOG_FULL, 1, {"full": 2}),
        (RollbackWhen.CHECKPOINT, 1, {"end": 1}),
    ],
)
def test_when_software_answers(when: RollbackWhen, depth: int, reasons: dict[str, int]) -> None:
    settings = {"block_instructions": 10, "log_blocks": 1, "log_depth": depth, "filter_bits": 64}
    found = run(two_conflicts(), 0, rollback_when=when, **settings)
    assert found.statistics.rollbacks == reasons
    assert len({race.address for race in found.races}) == 1 + (depth > 1 or "full" in reasons)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ring_depth": -1}, "Ring depth"),
        ({"ring_depth": 1 << 20}, "Ring depth"),
        ({"rollback_when": "never"}, "Unknown value of rollback_when 'never'"),
    ],
)
def test_what_is_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Sigrace(SigraceParams(), **settings)  # type: ignore[arg-type]
