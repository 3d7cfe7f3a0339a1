"""The compiled merge of raw records gives what reading and interleaving them in Python gives."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from racetrap.golden_model.trace.threads.events import ThreadEventKind, frame_of
from racetrap.sim.cpu.merge import merge_records
from racetrap.sim.cpu.raw import RAW_DTYPE
from tests.support.threads.interleave import common_frames, interleave, read_streams

_FRAME, _IN_FRAME, _EXTENSION, _FILLER = range(252, 256)
_HEADER_BYTES, _PART_BYTES = 4096, 1 << 16
_PART_RECORDS = _PART_BYTES // RAW_DTYPE.itemsize - 1
_CREATE, _BEGIN, _END = ThreadEventKind.CREATE, ThreadEventKind.BEGIN, ThreadEventKind.END
_UNORDERED = (ThreadEventKind.LOAD, ThreadEventKind.STORE, ThreadEventKind.COLLECT_OFF)
_ORDERED = (
    ThreadEventKind.ATOMIC_UPDATE, ThreadEventKind.ACQUIRE, ThreadEventKind.RELEASE,
    ThreadEventKind.JOIN, ThreadEventKind.ALLOCATE,
)  # fmt: skip


class RawRun:
    """Raw records of a random run: every kind of record, threads that end and that are cut off."""

    def __init__(self, seed, threads, events):
        self.random = np.random.default_rng(seed)
        self.rows = [[] for _ in range(threads)]
        self.frames = [0] * threads
        self.sequence = 0
        self.ordered(0, _BEGIN, 0, 0)
        for thread in range(1, threads):
            self.ordered(0, _CREATE, 0, thread)
            if self.random.random() < 0.9:
                self.ordered(thread, _BEGIN, 0, 0)
        for _ in range(events):
            # Some threads have several parts of the file.
            self.event(int(self.random.integers(threads) * self.random.random()))
        for thread in range(threads):
            if self.random.random() < 0.5:
                self.ordered(thread, _END, 0, 0)
            if self.random.random() < 0.3:  # killed before the extension
                self.ordered(thread, ThreadEventKind.RELEASE, 64, 0)
                self.rows[thread].pop()

    def append(self, thread, address, pc, instructions, tag, size):
        self.rows[thread].append((address, pc, instructions, tag, size))

    def ordered(self, thread, kind, address, value):
        rows = self.rows[thread]
        if len(rows) % _PART_RECORDS == _PART_RECORDS - 1:  # a pair is never torn apart
            self.append(thread, 0, 0, 0, _FILLER, 0)
        self.sequence += 1
        self.append(thread, address, 7, int(self.random.integers(30)), kind + 1, 0)
        self.append(thread, self.sequence, value, 0, _EXTENSION, 0)

    def event(self, thread):
        random = self.random
        if random.random() < 0.05:
            self.append(thread, int(random.integers(1, 100_000)), 0, 0, _FILLER, 0)
        if random.random() < 0.02:
            # Of few functions: threads have frames in common.
            caller, call = int(random.integers(self.frames[thread] + 1)), int(random.integers(3))
            self.append(thread, caller << 32 | call, int(random.integers(3)), 0, _FRAME, 0)
            self.frames[thread] += 1
        if random.random() < 0.1:
            frame = int(random.integers(self.frames[thread] + 1))
            self.append(thread, 0, frame, 0, _IN_FRAME, 0)
        if random.random() < 0.3:
            kind = random.choice(_ORDERED)
            value = int(random.integers(4 if kind == ThreadEventKind.ATOMIC_UPDATE else 6))
            self.ordered(thread, kind, int(random.integers(4)) << 62, value)
        else:
            fields = (random.integers(1 << 40), random.integers(1 << 32), random.integers(60))
            self.append(thread, *map(int, fields), int(random.choice(_UNORDERED)) + 1, 4)

    def write(self, folder):
        parts = []
        for thread, rows in enumerate(self.rows):
            for start in range(0, len(rows), _PART_RECORDS):
                records = np.zeros(_PART_RECORDS, RAW_DTYPE)
                own = np.array(rows[start : start + _PART_RECORDS], RAW_DTYPE)
                records[: len(own)] = own
                head = np.array([thread, _PART_BYTES], np.uint64)
                parts.append(head.tobytes() + records.tobytes())
            if self.random.random() < 0.3:
                parts.append(bytes(_PART_BYTES))  # taken, but killed before its header
        body = b"".join(parts)
        used = _HEADER_BYTES + len(body)
        (folder / "records").write_bytes(used.to_bytes(_HEADER_BYTES, "little") + body)


@pytest.mark.parametrize("seed", range(8))
def test_merge_gives_what_python_gives(tmp_path, seed):
    threads = 1 + 3 * seed
    RawRun(seed, threads, events=9000).write(tmp_path)
    for most in (None, 5000):
        streams = read_streams(tmp_path)
        merged, plain = merge_records(tmp_path, most), interleave(streams, most)
        assert_array_equal(merged.events, plain, err_msg=f"seed {seed}")
        assert merged.pcs == np.unique(plain["pc"]).tolist()
        frames, _ = common_frames(streams)
        accesses = plain[plain["kind"] <= ThreadEventKind.ATOMIC_UPDATE]
        used = set(frame_of(accesses["kind"], accesses["value"]).tolist()) - {0}
        assert used <= merged.frames.keys()
        assert {frame.caller for frame in merged.frames.values()} <= merged.frames.keys() | {0}
        assert merged.frames.items() <= frames.items()
        callers = {frames[number].caller for number in merged.frames}
        assert merged.frames.keys() <= used | callers
        assert len(merged.events) > (8000 if most is None else 4999)


def test_nothing_was_recorded(tmp_path):
    assert not len(merge_records(tmp_path).events)
    run = RawRun(1, threads=3, events=100)
    run.rows[0].clear()
    run.write(tmp_path)
    assert not len(merge_records(tmp_path).events)
