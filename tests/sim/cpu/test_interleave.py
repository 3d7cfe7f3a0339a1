"""Merging the records of threads: program order, order on objects, virtual time."""

import numpy as np
from numpy.testing import assert_array_equal

from racetrap.golden_model.trace.threads.events import SyncClass, ThreadEventKind
from tests.support.threads.interleave import RawStream, interleave

_LOAD, _ACQUIRE, _RELEASE = ThreadEventKind.LOAD, ThreadEventKind.ACQUIRE, ThreadEventKind.RELEASE
_BEGIN, _END, _CREATE = ThreadEventKind.BEGIN, ThreadEventKind.END, ThreadEventKind.CREATE


def _stream(*events: tuple[int, int, int, int, int]) -> RawStream:
    """Stream of (kind, address, instructions, sequence number or 0, value)."""
    table = np.array(events, np.int64).reshape(-1, 5)
    ordered = np.flatnonzero(table[:, 3])
    zeros = np.zeros(len(table), np.uint32)
    return RawStream(
        kind=table[:, 0].astype(np.uint8),
        address=table[:, 1].astype(np.uint64),
        size=zeros.astype(np.uint8),
        pc=zeros,
        instructions=table[:, 2].astype(np.uint32),
        ordered=ordered,
        sequence=table[ordered, 3].astype(np.uint64),
        value=table[ordered, 4].astype(np.uint32),
        frame=zeros,
        frames=[],
    )


def test_threads_go_on_by_their_instructions():
    first = _stream((_BEGIN, 0, 1, 1, 0), (_CREATE, 0, 1, 2, 1), *[(_LOAD, 0, 10, 0, 0)] * 3)
    second = _stream((_BEGIN, 0, 1, 3, 0), *[(_LOAD, 0, 4, 0, 0)] * 3)
    merged = interleave([first, second])
    assert merged["thread"].tolist() == [0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1]
    assert merged["kind"][-2:].tolist() == [_END, _END]


def test_objects_keep_their_order_and_waiting_takes_time():
    # The slow thread had the lock first, so the fast one waits for it in virtual time, too.
    mutex = SyncClass.MUTEX
    slow = _stream(
        (_BEGIN, 0, 1, 1, 0), (_CREATE, 0, 1, 2, 1),
        (_ACQUIRE, 64, 100, 4, mutex), (_RELEASE, 64, 100, 5, mutex),
    )  # fmt: skip
    fast = _stream(
        (_BEGIN, 0, 1, 3, 0),
        (_ACQUIRE, 64, 1, 6, mutex), (_LOAD, 8, 1, 0, 0), (_RELEASE, 64, 1, 7, mutex),
    )  # fmt: skip
    merged = interleave([slow, fast])
    locking = merged[(merged["kind"] == _ACQUIRE) | (merged["kind"] == _RELEASE)]
    assert locking["thread"].tolist() == [0, 0, 1, 1]
    assert merged["kind"].tolist()[-4:] == [_LOAD, _RELEASE, _END, _END]


def test_random_streams_keep_every_order():
    seed = 11
    random = np.random.default_rng(seed)
    sequence = iter(range(1, 100_000))
    rows: list[list[tuple[int, int, int, int, int]]] = [[] for _ in range(4)]
    rows[0].append((_BEGIN, 0, 1, next(sequence), 0))
    for thread in range(1, 4):
        rows[0].append((_CREATE, 0, 1, next(sequence), thread))
    for thread in range(1, 4):
        rows[thread].append((_BEGIN, 0, 1, next(sequence), 0))
    for _ in range(5000):
        thread, count = int(random.integers(4)), int(random.integers(1, 50))
        is_ordered = random.random() < 0.3
        number = next(sequence) if is_ordered else 0
        # The address of an ordered event is its object; the value names the event.
        rows[thread].append((
            ThreadEventKind.ATOMIC_UPDATE if is_ordered else _LOAD,
            int(random.integers(5)) if is_ordered else len(rows[thread]), count, number, number,
        ))  # fmt: skip
    streams = [_stream(*own) for own in rows]
    merged = interleave(streams)
    for thread, stream in enumerate(streams):
        own = merged[merged["thread"] == thread][: len(stream)]
        assert_array_equal(own["address"], stream.address, err_msg=f"seed {seed}")
        assert_array_equal(own["instructions"], stream.instructions, err_msg=f"seed {seed}")
    updates = merged[merged["kind"] == ThreadEventKind.ATOMIC_UPDATE]
    for address in range(5):
        numbers = updates["value"][updates["address"] == address].astype(np.int64)
        assert len(numbers) > 100
        assert (np.diff(numbers) > 0).all(), f"seed {seed}, object {address}"
    assert_array_equal(merged, interleave(streams))


def test_a_thread_that_never_ran_gets_begin_and_end():
    first = _stream((_BEGIN, 0, 1, 1, 0), (_CREATE, 0, 1, 2, 1))
    merged = interleave([first])
    assert [(int(e["kind"]), int(e["thread"])) for e in merged[2:]] == [
        (_END, 0), (_BEGIN, 1), (_END, 1),
    ]  # fmt: skip
