"""The compiled rules hold just where the Python ones do."""

import numpy as np
import pytest

from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.threads.events import ThreadEventKind, ThreadTraceHeader
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.random_run import random_run
from racetrap.sim.cpu.trace_rules import checked_trace, rules_hold
from tests.support.threads.random_traces import random_thread_trace

_KIND = ThreadEventKind
_KINDS = len(ThreadEventKind)


def _broken_rule(header, events):
    """The rule that the plain form finds broken; None: all hold."""
    try:
        ThreadTrace(header, events)
    except TraceError as error:
        return error.rule
    return None


def _mutated(events, random):
    """The events with one field, one event or the order of two changed."""
    changed, row = events.copy(), int(random.integers(len(events)))
    choice = int(random.integers(5))
    if choice == 0:
        return np.delete(changed, row)
    if choice == 1:
        return np.insert(changed, row, changed[int(random.integers(len(events)))])
    if choice == 2:
        other = int(random.integers(len(events)))
        changed[[row, other]] = changed[[other, row]]
        return changed
    name = random.choice(["kind", "thread", "size", "value", "address"])
    values = {
        "kind": [int(random.integers(_KINDS + 1))],
        "thread": [0, 1, 2, 3, 9],
        "size": [0, 1, 16, 17, 255],
        "value": [0, 1, 2, 3, 4, 5, 6, 9],
        "address": [0, (1 << 64) - 1, (1 << 64) - 16, int(changed["address"][row]) + 8],
    }[name]
    changed[name][row] = random.choice(np.array(values, np.uint64))
    return changed


@pytest.mark.parametrize("seed", range(8))
def test_mutated_traces(seed):
    random = np.random.default_rng(seed)
    if seed % 2:
        trace = random_run(seed, threads=4, events=120, sync=0.6)
    else:
        trace = random_thread_trace(seed, threads=4, addresses=8, objects=2)
    assert rules_hold(trace.header, trace.events)
    for _ in range(40):
        events = _mutated(trace.events, random)
        expected = _broken_rule(trace.header, events)
        assert rules_hold(trace.header, events) == (expected is None), (seed, expected)


def test_every_rule_is_broken_by_some_mutation():
    random, broken = np.random.default_rng(7), set()
    traces = [random_run(seed, threads=4, events=120, sync=0.6) for seed in range(5)]
    traces += [random_thread_trace(seed, threads=4, addresses=8, objects=2) for seed in range(5)]
    for _ in range(100):
        for trace in traces:
            events = _mutated(trace.events, random)
            rule = _broken_rule(trace.header, events)
            assert rules_hold(trace.header, events) == (rule is None), rule
            broken.add(rule)
    rules = {
        Rule.KIND, Rule.CODE, Rule.UNUSED_FIELD, Rule.SIZE, Rule.THREAD, Rule.BEGIN, Rule.ALIVE,
        Rule.JOIN, Rule.HELD, Rule.FREE, Rule.BARRIER_WIDTH, Rule.BARRIER_CROSSING, Rule.COLLECT,
    }  # fmt: skip
    assert rules <= broken, rules - broken


def test_a_trace_that_breaks_a_rule_is_refused_by_name():
    trace = random_run(1, threads=2, events=50)
    assert checked_trace(trace.header, trace.events) == trace
    with pytest.raises(TraceError) as caught:
        checked_trace(ThreadTraceHeader(threads=2), trace.events[1:])
    assert caught.value.rule == Rule.ALIVE
