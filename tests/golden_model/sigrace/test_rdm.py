"""Race Detection Module: order of comparisons, conflicts, lost windows, dropped messages."""

from dataclasses import replace

import pytest

from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.compressor import encode
from racetrap.golden_model.sigrace.conflict_log import Reason
from racetrap.golden_model.sigrace.packets import (
    Cause,
    Conflict,
    Drop,
    LogEntry,
    RdmStepKind,
    Relation,
    Summary,
)
from racetrap.golden_model.sigrace.params import Form
from racetrap.golden_model.sigrace.rdm import Rdm
from racetrap.golden_model.sigrace.signature import signature_hash, signature_of_granules
from tests.support.sigrace.configurations import SMALL

_PARAMS = replace(SMALL, cores=3, form=Form.HASHED, log_depth=4)
_X, _Y = signature_hash(_PARAMS).granule(0x100), signature_hash(_PARAMS).granule(0x80104)


class _Bench:
    """An RDM with thread n on core n; messages get their sequence numbers."""

    def __init__(self, params=_PARAMS, **options):
        self.rdm = Rdm(params, **options)
        for core in range(params.cores):
            self.rdm.map(core, 0, core)

    def send(self, thread, timestamp, read=0, write=0, cause=Cause.LIMIT):
        sequence = self.rdm.expected[thread, 0]
        return self.rdm.summary(
            Summary(thread, 0, thread, sequence, cause, tuple(timestamp), read, write)
        )


def _compares(steps):
    return [
        (step.other, step.position, Relation(step.relation), Conflict(step.conflict))
        for step in steps
        if step.kind == RdmStepKind.COMPARE
    ]


def test_a_message_meets_the_other_queues_newest_first():
    bench = _Bench()
    bench.send(0, (0, 0, 0), read=_Y)
    bench.send(0, (1, 0, 0), read=_X)
    bench.send(2, (0, 0, 0), write=_X)
    steps = bench.send(1, (1, 0, 0), write=_X)
    assert _compares(steps) == [
        (0, 0, Relation.UNORDERED, Conflict.WRITE_READ),
        (0, 1, Relation.PRECEDES, Conflict.NONE),
        (2, 0, Relation.UNORDERED, Conflict.WRITE_WRITE),
    ]
    assert steps[-1].kind == RdmStepKind.PUSH
    assert bench.rdm.log == [
        LogEntry(2, 0, Conflict.WRITE_READ, (0, 0, 0), (1, 0, 0), _X),
        LogEntry(1, 0, Conflict.WRITE_READ, (1, 0, 0), (1, 0, 0), _X),
        LogEntry(1, 2, Conflict.WRITE_WRITE, (1, 0, 0), (0, 0, 0), _X),
    ]


def test_a_late_message_passes_over_later_blocks():
    bench = _Bench()
    bench.send(1, (0, 3, 0), write=_X)
    bench.send(1, (2, 4, 0), write=_X)
    steps = bench.send(0, (1, 0, 0), write=_X)
    assert _compares(steps) == [
        (1, 0, Relation.FOLLOWS, Conflict.NONE),
        (1, 1, Relation.UNORDERED, Conflict.WRITE_WRITE),
    ]


@pytest.mark.parametrize(
    ("message", "entry", "conflict"),
    [
        ((_X, 0), (_X, 0), Conflict.NONE),
        ((_X, 0), (0, _X), Conflict.READ_WRITE),
        ((0, _X), (_X, 0), Conflict.WRITE_READ),
        ((0, _X), (0, _X), Conflict.WRITE_WRITE),
        ((_X, _X), (_X, _X), Conflict(7)),
        ((_X, _X), (_Y, _Y), Conflict.NONE),
    ],
)
def test_intersections(message, entry, conflict):
    bench = _Bench()
    bench.send(0, (0, 0, 0), *entry)
    steps = bench.send(1, (0, 0, 0), *message)
    assert steps[0].conflict == conflict
    assert len(bench.rdm.log) == bool(conflict)


def test_only_intersections_that_are_not_null_are_logged():
    bench = _Bench()
    shared = signature_of_granules(_PARAMS, [0x100, 0x4000])
    bench.send(0, (0, 0, 0), read=_Y, write=shared)
    bench.send(1, (0, 0, 0), read=_X, write=_X & ~1 | _Y >> 1)
    assert bench.rdm.log[0].signature & _X == _X
    assert bench.rdm.log[0].conflict & Conflict.READ_WRITE


@pytest.mark.parametrize("depth", [1, 3, 4, 5])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_full_queue_without_predecessor_is_a_lost_window(depth, more):
    bench = _Bench(replace(_PARAMS, history_depth=depth))
    for _ in range(depth + more):
        bench.send(0, (1, 0, 0), read=_X)
    steps = bench.send(1, (0, 0, 0), read=_X)
    is_lost = more >= 0
    assert len(_compares(steps)) == min(depth + more, depth)
    assert steps[-1].lost == is_lost
    assert bench.rdm.lost == ({(1, 0): 1} if is_lost else {})
    assert bench.rdm.counters["lost_windows"] == is_lost


def test_a_predecessor_that_is_the_oldest_entry_is_a_hit():
    bench = _Bench()
    bench.send(0, (0, 0, 0))
    for _ in range(3):
        bench.send(0, (1, 0, 0))
    steps = bench.send(1, (1, 0, 0))
    assert (len(steps), steps[3].relation, steps[-1].lost) == (5, Relation.PRECEDES, 0)
    assert bench.rdm.counters["comparisons"] == 4
    assert bench.rdm.counters["intersections"] == 3


def test_unbounded_queues_lose_nothing():
    bench = _Bench(unbounded=True)
    for _ in range(20):
        bench.send(0, (1, 0, 0), read=_X)
    steps = bench.send(1, (0, 0, 0), read=_X)
    assert len(_compares(steps)) == 20
    assert not bench.rdm.lost


@pytest.mark.parametrize("threads", [1, 2, 4, 5])
def test_numbers_of_threads(threads):
    params = replace(_PARAMS, cores=threads, threads=threads)
    bench = _Bench(params)
    for thread in range(threads):
        steps = bench.send(thread, (0,) * threads, read=_X)
        assert len(steps) == thread + 1


def _drop(bench, **fields):
    good = {
        "core": 1, "context": 0, "thread": 1, "sequence": bench.rdm.expected[1, 0],
        "cause": 0, "timestamp": (0, 0, 0), "read": _X, "write": 0,
    }  # fmt: skip
    link = fields.pop("link", 1)
    (step,) = bench.rdm.summary(Summary(**good | fields), link)
    return Drop(step.drop) if step.kind == RdmStepKind.DROP else None


@pytest.mark.parametrize(
    ("fields", "drop"),
    [
        ({}, Drop.NONE),
        ({"is_malformed": 1, "core": 7}, Drop.MALFORMED),
        ({"core": 2}, Drop.UNMAPPED),
        ({"link": 0}, Drop.UNMAPPED),
        ({"context": 1}, Drop.UNMAPPED),
        ({"thread": 3}, Drop.THREAD),
        ({"thread": 0, "sequence": 9}, Drop.THREAD),
        ({"sequence": 1}, Drop.SEQUENCE),
        ({"sequence": 255}, Drop.SEQUENCE),
    ],
)
def test_bad_messages_are_dropped_and_counted(fields, drop):
    bench = _Bench()
    assert (_drop(bench, **fields) or Drop.NONE) == drop
    counters = {name: value for name, value in bench.rdm.counters.items() if value}
    assert counters == {f"dropped_{drop.name.lower()}" if drop else "messages": 1}
    assert len(bench.rdm.queues[1].entries) == (drop == Drop.NONE)


def test_a_gap_drops_one_message():
    bench = _Bench()
    assert _drop(bench, sequence=255) == Drop.SEQUENCE
    assert bench.rdm.expected[1, 0] == 0
    assert _drop(bench) is None
    assert _drop(bench, thread=2) == Drop.THREAD
    assert bench.rdm.expected[1, 0] == 1


def test_unmapped_cores_may_not_send():
    bench = _Bench()
    bench.rdm.map(1, 0, None)
    assert _drop(bench) == Drop.UNMAPPED
    bench.rdm.map(1, 0, 2)
    assert _drop(bench) == Drop.THREAD
    assert _drop(bench, thread=2) is None
    bench.rdm.map(1, 0, 200)
    assert _drop(bench, thread=200) == Drop.THREAD


def test_messages_are_ignored_while_disabled():
    bench = _Bench()
    bench.rdm.enabled = False
    good = Summary(1, 0, 1, 7, 0, (0, 0, 0), _X, 0)
    assert bench.rdm.summary(good) == []
    assert bench.rdm.summary(good._replace(is_malformed=1, sequence=20)) == []
    assert bench.rdm.summary(good._replace(sequence=30), link=0) == []
    assert bench.rdm.summary(good._replace(context=9, sequence=30)) == []
    assert bench.rdm.counters["ignored"] == 4
    bench.rdm.enabled = True
    assert _drop(bench, sequence=8) is None


def test_messages_as_flits():
    rdm = Rdm(_PARAMS)
    rdm.map(2, 0, 1)
    block = FinishedBlock(2, 0, 1, 0, Cause.SYNC, (1, 2, 3), _X, _Y)
    (step,) = rdm.message(encode(_PARAMS, block), 2)
    assert (step.kind, step.core, step.thread, step.cause) == (RdmStepKind.PUSH, 2, 1, Cause.SYNC)
    (entry,) = rdm.queues[1].entries
    assert entry == ((1, 2, 3), _X, _Y, None)
    (step,) = rdm.message(encode(_PARAMS, block)[:1], 2)
    assert step.drop == Drop.MALFORMED


def test_digest_is_the_xor_of_all_words():
    bench = _Bench()
    steps = bench.send(0, (5, 6, 7), read=_X, write=_Y)
    words = [5 | 6 << 6 | 7 << 12]
    words += [_X >> 32 * word & 0xFFFFFFFF for word in range(4)]
    words += [_Y >> 32 * word & 0xFFFFFFFF for word in range(4)]
    expected = 0
    for word in words:
        expected ^= word
    assert steps[-1].digest == expected != 0


def _conflicts(bench, count):
    """Make ``count`` conflicts, all found by messages of thread 1."""
    bench.send(0, (9, 0, 0), write=_X)
    for _ in range(count):
        bench.send(1, (0, 0, 0), read=_X)


def test_a_full_log_asks_for_a_rollback_and_drops():
    bench = _Bench(replace(_PARAMS, log_blocks=99))
    _conflicts(bench, 3)
    assert bench.rdm.reasons == 0
    _conflicts(bench, 2)  # also one of thread 0's: it meets all entries of thread 1
    assert bench.rdm.reasons == Reason.FULL
    assert len(bench.rdm.log) == 4
    counters = bench.rdm.counters
    assert counters["conflicts"] == 4 + counters["log_dropped"]


def test_a_rollback_is_due_after_some_blocks_of_the_first_thread():
    bench = _Bench()
    _conflicts(bench, 1)
    bench.send(1, (0, 0, 0))
    bench.send(2, (0, 0, 0), cause=Cause.SYNC)
    assert bench.rdm.reasons == 0
    bench.send(1, (0, 0, 0))
    assert bench.rdm.reasons == Reason.BLOCKS
    bench.rdm.clear_log()
    bench.send(1, (0, 0, 0), cause=Cause.SYNC)
    assert (bench.rdm.reasons, bench.rdm.log) == (0, [])


@pytest.mark.parametrize("itself", [True, False])
def test_a_rollback_is_due_at_the_next_synchronisation(itself):
    bench = _Bench()
    bench.send(0, (9, 0, 0), write=_X)
    bench.send(1, (0, 0, 0), read=_X, cause=Cause.SYNC if itself else Cause.LIMIT)
    if not itself:
        assert bench.rdm.reasons == 0
        bench.send(1, (0, 0, 0), cause=Cause.SYNC)
    assert bench.rdm.reasons == Reason.SYNC


def test_flush_keeps_everything_but_the_queues():
    bench = _Bench()
    _conflicts(bench, 1)
    bench.rdm.flush()
    for queue in bench.rdm.queues:
        assert not queue.entries
    assert len(bench.rdm.log) == 1
    assert _compares(bench.send(0, (9, 0, 0), write=_X)) == []
