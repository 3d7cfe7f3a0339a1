"""Compiled events of cores are those of playback, synchronisation library and core units."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from racetrap.generators.sigrace import SIGRACE
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import Environment, Remap
from racetrap.golden_model.sigrace.params import Form
from racetrap.golden_model.sigrace.playback import play
from racetrap.golden_model.sigrace.rdm import Rdm
from racetrap.sim.cosim.fast.packing import pack_records, pack_tuples
from racetrap.sim.cpu.sigrace.compiled_sigrace import prepare_sigrace
from racetrap.sim.cpu.sigrace.core_stream import EVENT_COLUMNS, STEP_COLUMNS, CoreStream
from tests.support.threads.random_traces import random_thread_trace

_THREADS = 4
_PARAMS = replace(
    SIGRACE.presets["sigrace-tiny"].params, cores=_THREADS, threads=_THREADS, contexts=1
)


def _golden(params, trace):
    """Packed events and steps of each unit, and all blocks in order."""
    units = [CoreUnit(params, core, 0) for core in range(params.cores)]
    events, steps, blocks = [[] for _ in units], [[] for _ in units], []
    for command in play(trace, params, Environment()):
        if isinstance(command, Remap):
            continue
        unit = units[command.core]
        events[command.core].append(command.event)
        steps[command.core].append(unit.step(command.event))
        blocks += [block.hashed(params) for block in unit.blocks]
        unit.blocks.clear()
    packed = [pack_tuples(params.event_layout, each) for each in events]
    return packed, [pack_tuples(params.core_step_layout, each) for each in steps], blocks


def _compare_rdm(params, stream, blocks, random):
    """The RDM takes messages in a random order, in which those of a thread stay."""
    rdm = Rdm(params)
    for thread in range(params.cores):
        rdm.map(thread, 0, thread)
    waiting = [[block for block in blocks if block.thread == t] for t in range(params.cores)]
    conflicts = 0
    while any(waiting):
        ready = [thread for thread, own in enumerate(waiting) if own]
        order = [random.choice(ready)]
        for thread in random.choices(ready, k=random.randrange(20)):
            if order.count(thread) < len(waiting[thread]):
                order.append(thread)
        steps = [s for thread in order for s in rdm.summary(waiting[thread].pop(0).summary(params))]
        found = pack_records(params.rdm_step_layout, stream.take_messages(np.array(order)))
        np.testing.assert_array_equal(found, pack_tuples(params.rdm_step_layout, steps))
        assert stream.log() == rdm.log
        counters = stream.counters()
        assert counters["reasons"] == rdm.reasons
        for name, value in rdm.counters.items():
            assert counters.get(name, 0) == value
        for action in ("flush", "clear_log"):
            if random.random() < 0.2:
                getattr(rdm, action)()
                getattr(stream, action)()
        conflicts = counters["conflicts"]
    assert conflicts
    with pytest.raises(ValueError, match="must be of threads that have sent them"):
        stream.take_messages(np.array([0]))


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("timestamp_bits", [4, 16])
@pytest.mark.parametrize("seed", range(6))
def test_events_steps_and_blocks(form, timestamp_bits, seed):
    """Blocks end for every reason, and counters saturate where they are narrow."""
    params = replace(_PARAMS, form=form, timestamp_bits=timestamp_bits)
    trace = random_thread_trace(seed, _THREADS, events=600, addresses=1 << 12)
    events, steps, blocks = _golden(params, trace)
    threads = trace.header.threads
    stream = CoreStream(prepare_sigrace(), params, threads)
    found = [[] for _ in range(threads)]
    for start in range(0, len(trace), 150):
        stream.take(np.ascontiguousarray(trace.events[start : start + 150]))
        for thread in range(threads):
            found[thread].append(stream.steps(thread))
    for thread in range(threads):
        own = np.concatenate(found[thread])
        for layout, columns, golden in (
            (params.event_layout, EVENT_COLUMNS, events),
            (params.core_step_layout, STEP_COLUMNS, steps),
        ):
            packed = pack_records(layout, [own[name] for name in columns])
            np.testing.assert_array_equal(packed, golden[thread], err_msg=f"thread {thread}")
    assert stream.messages == len(blocks)
    _compare_rdm(params, stream, blocks, Random(seed))
    assert len({block.cause for block in blocks}) >= 2
    is_saturated = any(step[-1] for each in found for part in each for step in part[["saturated"]])
    assert is_saturated or timestamp_bits == 16
