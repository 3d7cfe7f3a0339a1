"""Lines that caches and queues lose: by hand, and by lists of everything on random programs."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Any, NamedTuple

import pytest

from racetrap.evaluation.sigrace.caches import CacheCounts, LineCounts, count_lines
from racetrap.evaluation.sigrace.measured import measured_run
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cosim.verilator.patch import Patch
from racetrap.sim.cpu.random_run import random_run
from tests.support.campaign import later_but
from tests.support.planted_bugs import modules_with
from tests.support.sigrace.naive_lines import naive_counts
from tests.support.sigrace.programs import ThreadProgram

#: One set, and two sets, of four lines.
_SIZES = (256, 512)
#: Of the cases in `make test`; they show every planted bug.
_SEEDS = range(9)


class _Case(NamedTuple):
    trace: ThreadTrace
    params: SigraceParams
    interval: int


def case(seed: int) -> _Case:
    """Few lines or many, few synchronisations or many; blocks, queues, intervals of all sizes."""
    trace = random_run(
        seed, threads=1 + seed % 4, events=500, granules=(30, 600, 150)[seed % 3],
        sync=(0.05, 0.3)[seed // 2 % 2],
    )  # fmt: skip
    events = trace.events.copy()
    # Sometimes an event has more instructions than a core takes at a time.
    events["instructions"] *= (1, 1, 200)[seed // 3 % 3]
    params = SigraceParams(
        cores=4, threads=4, form=Form.HASHED, block_instructions=(60, 200, 2000)[seed % 3],
        history_depth=(1, 2, 5)[seed // 2 % 3], log_depth=1,
    )  # fmt: skip
    interval = (900, 3000, 1_000_000)[seed // 4 % 3]
    return _Case(ThreadTrace(trace.header, events), params, interval)


@cache
def expected(seed: int) -> dict[str, Any]:
    return naive_counts(*case(seed), _SIZES)


def counted(seed: int, count: Any = count_lines) -> dict[str, Any]:
    trace, params, interval = case(seed)
    return asdict(count(trace, params, interval=interval, cache_bytes=_SIZES))


@pytest.mark.parametrize("seed", later_but(_SEEDS.__contains__, range(400)))
def test_counts_are_those_of_lists_of_everything(seed: int) -> None:
    assert counted(seed) == expected(seed)


def test_counts_by_hand() -> None:
    """Two threads, caches of two sets, blocks of 4 instructions, a queue of one, a checkpoint."""
    a, b, c, d, e, f, g, h = (64 * line for line in (64, 65, 66, 68, 70, 72, 74, 67))
    program = ThreadProgram(2)  # three events: thread 0 has committed 2 instructions
    program.store(0, a)
    program.load(0, b)
    program.load(1, a)  # memory gets a
    program.store(1, b)  # thread 0 loses b, which is in its open block
    program.load(0, c)
    program.store(0, d)  # block a b c d
    program.store(0, e)
    program.load(0, a)
    program.store(0, f)  # displaces c, which is in the queue
    program.load(0, g)  # displaces d, which memory gets; block e a f g takes the place of a b c d
    program.load(1, c)
    program.store(1, a)  # thread 0 loses a, which is in the queue; block a b c
    program.load(0, h)
    program.store(0, h)
    program.load(0, e)
    program.load(0, f)  # block h e f for e a f g: g is cached still; a checkpoint is due
    # The checkpoint writes e, f, h, a and b back.
    program.load(1, g)
    program.store(1, a)
    program.load(0, a)  # memory gets a
    program.store(1, a)  # thread 0 loses a, which is in its open block: its queue is empty
    program.load(0, c)  # both ends: blocks g a, and a c
    found = count_lines(
        program.trace(),
        SigraceParams(form=Form.HASHED, block_instructions=4, history_depth=1),
        interval=14,
        cache_bytes=[512],
    )
    # Shared are a, b, c and g.
    counts = CacheCounts(
        lost=4, queued=2, opened=2, cached=1, cached_shared=1, logged=len("adefhb"), written_back=5
    )
    assert found == LineCounts(
        instructions=3 + 21, threads=2, checkpoints=1, blocks=6,
        lines=len("abcd" "eafg" "abc" "hef" "ga" "ac"),
        shared_lines=len("abc" "ag" "abc" "ga" "ac"),
        displaced_lines=len("abcd" "eafg"), caches={512: counts},
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_blocks_are_those_of_compiled_sigrace(seed: int) -> None:
    trace, params, interval = case(seed)
    found = count_lines(trace, params, interval=interval)
    run = measured_run(Sigrace(params, checkpoint_interval=interval), trace)
    assert (found.blocks, found.checkpoints) == (run.messages.messages, run.checkpoints)


def test_an_empty_trace() -> None:
    trace, params, _ = case(0)
    assert count_lines(ThreadTrace(trace.header, trace.events[:0]), params).blocks == 0


_CACHE, _EVENTS = "golden_model/reenact/cache.py", "evaluation/sigrace/line_events.py"
_COUNTS = "evaluation/sigrace/caches.py"
#: Text of one of these files, and what stands there instead.
_BUGS = {
    "the first line of a set is displaced, not the oldest": (
        _CACHE, "line = lines.pop(number, None)", "line = lines.get(number)"),
    "a displaced dirty line does not go to memory": (
        _CACHE, "self._listener.write_back(oldest)", "pass"),
    "a line that is read elsewhere stays dirty": (_CACHE, "copy.is_dirty = False", "pass"),
    "a copy stays alone": (_CACHE, "copy.is_alone = False", "pass"),
    "a line is alone though others have it": (_CACHE, "is_write or not met", "True"),
    "an invalidated line is not lost": (_CACHE, "self._listener.lose(other, number)", "pass"),
    "a hit does not make a line dirty": (
        _CACHE, "line.is_alone = line.is_dirty = True",
        "line.is_alone = True\n            line.is_dirty = line.is_dirty or bool(met)"),
    "a displaced block stays held": (_COUNTS, "self.held.subtract(oldest)", "pass"),
    "a checkpoint leaves lines held": (_COUNTS, "self.held.clear()", "pass"),
    "a queue has one entry more": (_COUNTS, "<= self._depth", "<= self._depth + 1"),
    "a write after a read is a repetition": (_EVENTS, "follows & (before | ~writes)", "follows"),
    "others do not end repetitions": (_EVENTS, "& _same_before(lines, owner)", ""),
    "a repetition does not make a cleaned line dirty": (
        _COUNTS, "self._cleaned.update(range(len(self._blocks)))", "pass"),
    "a line is logged again": (
        _COUNTS, "self._updated.add(number)", "self._updated.add((number, self.counts.lost))"),
    "the log of an interval goes on": (_COUNTS, "self._updated.clear()", "pass"),
    "the write-backs of a checkpoint are not logged": (
        _COUNTS, "self._updated.union(dirty)", "self._updated"),
    "the second line of an access is not in its block": (_COUNTS, "blocks.lines.add(last)", "pass"),
    "uncollected accesses share lines": (
        _EVENTS, "self._events[self._is_kept]",
        'self._events[self._events["kind"] <= _KIND.STORE]'),
    "an event is one core event, however long it is": (
        _COUNTS, "min(instructions, MAX_INSTRUCTIONS)", "instructions"),
    "a synchronisation does not begin to count anew": (
        _COUNTS, "blocks.instructions = 0", "blocks.instructions %= self._most"),
    "a line that is elsewhere in the queue has left it": (
        _COUNTS, "if not blocks.held[number]", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", _BUGS)
def test_planted_bugs_are_found(name: str) -> None:
    file, before, after = _BUGS[name]
    modules = modules_with([_CACHE, _EVENTS, _COUNTS], Patch(file, before, after), folder="")
    count = modules[_COUNTS].count_lines
    different = (seed for seed in _SEEDS if counted(seed, count) != expected(seed))
    assert next(different, None) is not None
