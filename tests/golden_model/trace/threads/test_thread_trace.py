"""Traces of threads: any legal one comes back from every form; numbers that do not fit."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from racetrap.golden_model.trace import Rule, TraceError, read_thread_trace, read_trace
from racetrap.golden_model.trace.threads.compression import COMPRESSED_EVENTS
from racetrap.golden_model.trace.threads.events import (
    ThreadEvent,
    ThreadEventKind,
    ThreadTraceHeader,
)
from racetrap.golden_model.trace.threads.schema import THREAD_DTYPE
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from tests.support.threads.random_traces import random_thread_trace

_FORMS = {
    "binary": lambda trace, path: trace.write_binary(path),
    "compressed": lambda trace, path: trace.write_binary(path, compress=True),
    "text": lambda trace, path: trace.write_text(path),
}
_PLACES = st.text().filter(str.isprintable)
_headers = st.builds(
    ThreadTraceHeader,
    threads=st.integers(6, 1024),
    source=_PLACES,
    seed=st.none() | st.integers(0, (1 << 64) - 1),
    locations=st.dictionaries(st.integers(0, (1 << 32) - 1), _PLACES, max_size=4),
)


@pytest.mark.parametrize("form", _FORMS)
@given(header=_headers, seed=st.integers(0, 10_000), threads=st.integers(1, 6))
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_round_trip(tmp_path, form, header, seed, threads):
    events = list(random_thread_trace(seed, threads, events=60))
    trace = ThreadTrace.from_events(header, events)
    assert list(trace) == events
    _FORMS[form](trace, tmp_path / "some.trace")
    again = read_trace(tmp_path / "some.trace")
    assert isinstance(again, ThreadTrace)
    assert again.header == header
    assert list(again) == events
    assert again == trace


def _many(events: int) -> ThreadTrace:
    """A long trace with different numbers in all records."""
    records = np.zeros(events, dtype=THREAD_DTYPE)
    for name in ("address", "pc", "instructions"):
        records[name] = np.arange(events)
    records["size"] = 1
    records[0] = np.zeros((), dtype=THREAD_DTYPE)
    records["kind"][0] = ThreadEventKind.BEGIN
    return ThreadTrace(ThreadTraceHeader(threads=1), records)


@pytest.mark.parametrize("extra", [-1, 0, 1])
@pytest.mark.parametrize("compress", [False, True])
def test_lengths_about_a_compressed_block(tmp_path, extra, compress):
    trace = _many(COMPRESSED_EVENTS + extra)
    trace.write_binary(tmp_path / "long.trace", compress)
    again = read_thread_trace(tmp_path / "long.trace")
    assert again == trace
    assert next(reversed(list(again))).address == COMPRESSED_EVENTS + extra - 1


def test_mapped_unless_compressed(tmp_path):
    trace = random_thread_trace(1, 4, events=2000)
    plain, compressed = tmp_path / "plain.trace", tmp_path / "compressed.trace"
    trace.write_binary(plain)
    trace.write_binary(compressed, compress=True)
    mapped = read_thread_trace(plain).events
    assert not mapped.flags.owndata
    assert not mapped.flags.writeable
    assert compressed.stat().st_size < plain.stat().st_size / 2


def test_writing_over_the_mapped_file(tmp_path):
    trace = random_thread_trace(2)
    path = tmp_path / "one.trace"
    trace.write_binary(path)
    read_thread_trace(path).write_binary(path, compress=True)
    assert read_thread_trace(path) == trace


@pytest.mark.parametrize("form", _FORMS)
def test_no_events_is_a_trace(tmp_path, form):
    trace = ThreadTrace.from_events(ThreadTraceHeader(threads=1), [])
    _FORMS[form](trace, tmp_path / "empty.trace")
    assert read_trace(tmp_path / "empty.trace") == trace
    assert list(trace) == []


def test_traces_that_differ():
    one, other = random_thread_trace(3), random_thread_trace(4)
    assert one != other
    assert one != ThreadTrace(ThreadTraceHeader(threads=9), one.events)
    assert one != list(one)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"address": 1 << 64}, Rule.WIDTH),
        ({"address": -1}, Rule.WIDTH),
        ({"pc": 1 << 32}, Rule.WIDTH),
        ({"pc": 1.0}, Rule.WIDTH),
        ({"value": 1 << 32}, Rule.WIDTH),
        ({"instructions": 1 << 32}, Rule.WIDTH),
        ({"thread": 1 << 16}, Rule.WIDTH),
        ({"size": 256}, Rule.WIDTH),
        ({"kind": 256}, Rule.WIDTH),
        ({"kind": 77}, Rule.KIND),
        ({"kind": ThreadEventKind.FREE, "size": 0, "value": 1}, Rule.UNUSED_FIELD),
        ({"size": 17}, Rule.SIZE),
        ({"thread": 1}, Rule.THREAD),
    ],
)
def test_events_in_memory_obey_the_rules(change, rule):
    events = [ThreadEvent(ThreadEventKind.BEGIN, 0), ThreadEvent(ThreadEventKind.LOAD, 0, 8, 4)]
    events[1] = events[1]._replace(**change)
    with pytest.raises(TraceError) as caught:
        ThreadTrace.from_events(ThreadTraceHeader(threads=1), events)
    assert (caught.value.rule, caught.value.place) == (rule, "event 1")
