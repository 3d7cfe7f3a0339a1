"""Recorded programs on the hardware against compiled core units; planted differences are found."""

import numpy as np
import pytest

from racetrap.generators.sigrace import SIGRACE
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim
from racetrap.sim.cosim.sigrace.stream_compare import StreamCompare
from racetrap.sim.cpu.sigrace.core_stream import CoreStream
from tests.support.sigrace.programs import ThreadProgram
from tests.support.threads.random_traces import random_thread_trace

_PARAMS = SIGRACE.presets["sigrace-tiny"].params


def _run(model, trace, share=1 << 16):
    with FastSim(model, seed=3) as sim:
        compare = StreamCompare(sim, _PARAMS, trace.header.threads)
        runs = []
        for start in range(0, len(trace), share):
            runs.append(compare.run(trace.events[start : start + share]))
            compare.flush()
            compare.clear_log()
    return np.array([(run.events, run.messages, run.rdm_steps, run.conflicts) for run in runs])


def _trace(seed=0):
    return random_thread_trace(seed, 2, events=400, addresses=24)


@pytest.mark.parametrize("seed", range(1, 5))
def test_random_programs(model, seed):
    events, messages, steps, conflicts = _run(model, _trace(seed), share=150).sum(axis=0)
    assert events > 400
    assert steps > messages > 20
    assert conflicts > 0


def _cycles(model, program, paced):
    trace = program.trace()
    with FastSim(model, seed=3) as sim:
        compare = StreamCompare(sim, _PARAMS, trace.header.threads, paced=paced)
        return compare.run(trace.events).cycles


def test_cores_keep_their_pace_and_wait_as_their_threads_waited(model):
    """Thread 1 locks when thread 0 has unlocked, and both work for 300 instructions."""
    ordered, free = ThreadProgram(2), ThreadProgram(2)
    for thread in range(2):
        for program, mutex in ((ordered, 0x9000), (free, 0x9000 + 16 * thread)):
            program.lock(thread, mutex)
            program.store(thread, 0x1000 + 64 * thread, instructions=300)
            program.unlock(thread, mutex)
    assert _cycles(model, ordered, paced=False) < 200
    assert 300 < _cycles(model, free, paced=True) < 500
    assert 600 < _cycles(model, ordered, paced=True) < 800


def test_a_machine_with_too_few_contexts(model):
    with pytest.raises(ValueError, match="threads, but"):
        _run(model, random_thread_trace(0, 40, events=900))


def test_another_event_is_a_difference(model, monkeypatch):
    steps = CoreStream.steps

    def other(self, thread):
        found = steps(self, thread)
        if thread == 1:
            found["counter"][20] ^= 1
        return found

    monkeypatch.setattr(CoreStream, "steps", other)
    with pytest.raises(Mismatch, match=r"Core \d, context \d, step 20: step differs: counter must"):
        _run(model, _trace())


def test_a_message_that_was_never_sent_is_a_difference(model, monkeypatch):
    take = CoreStream.take_messages
    monkeypatch.setattr(
        CoreStream, "take_messages", lambda self, order: take(self, np.append(order, order[-1:]))
    )
    with pytest.raises(Mismatch, match="RDM: Messages must be of threads that have sent them"):
        _run(model, _trace())


def test_a_missing_message_is_a_difference(model, monkeypatch):
    take = CoreStream.take_messages
    monkeypatch.setattr(CoreStream, "take_messages", lambda self, order: take(self, order[:-1]))
    with pytest.raises(Mismatch, match="RDM: 1 messages must come, but are missing"):
        _run(model, _trace())


@pytest.mark.parametrize(("column", "name"), [(8, "relation"), (12, "digest")])
def test_another_step_of_the_rdm_is_a_difference(model, monkeypatch, column, name):
    take = CoreStream.take_messages

    def others(self, order):
        columns = take(self, order)
        columns[column][-1] ^= 1
        return columns

    monkeypatch.setattr(CoreStream, "take_messages", others)
    with pytest.raises(Mismatch, match=rf"RDM, step \d+: step differs: {name} must be"):
        _run(model, _trace())


@pytest.mark.parametrize("what", ["log", "counters"])
def test_other_registers_are_a_difference(model, monkeypatch, what):
    right = getattr(CoreStream, what)

    def other(self):
        found = right(self)
        return found[:-1] if what == "log" else found | {"comparisons": found["comparisons"] + 1}

    monkeypatch.setattr(CoreStream, what, other)
    with pytest.raises(Mismatch, match=r"Conflict log must be|Register comparisons must be"):
        _run(model, _trace(1))
