"""Registers, runs and the ways in which a simulation ends early."""

import numpy as np
import pytest

from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp, RdmStepKind
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim, Program, Stop, Timing

_BLOCK = [
    CoreEvent(CoreOp.COLLECT_ON),
    CoreEvent(CoreOp.STORE, data=0x1234, size=4, instructions=3, pc=0x40),
    CoreEvent(CoreOp.SWITCH_OUT),
]


def test_registers(sim):
    assert sim.read("ID") == 0x53696752
    sim.write("MAP_SELECT", 0x101)
    assert sim.read("MAP_SELECT") == 0x101
    with pytest.raises(SimulationError, match="Register ID must answer OKAY, not response 2"):
        sim.write("ID", 1)


def test_one_block(sim, model):
    sim.run(Program([_BLOCK, []], [(Remap(0, 0, 0), 0)], [[Stop(0, remaps=1)], []]), 1, 0)
    assert [step.event for step in sim.core_steps(0)] == _BLOCK
    assert sim.core_steps(0)[-1].sent == 1
    assert not sim.core_steps(1)
    (step,) = sim.rdm_steps()
    assert (step.kind, step.core, step.thread) == (RdmStepKind.PUSH, 0, 0)
    assert len(sim.rdm_cycles()) == 1
    assert sim.rdm.counters()["messages"] == 1
    assert (sim.rdm.log(), sim.rdm.status()["reasons"]) == ([], 0)


def _stores(number, size=4, instructions=50):
    """Each is a block of its own if it has the instructions of one."""
    return [
        CoreEvent(CoreOp.STORE, data=64 * place, size=size, instructions=instructions)
        for place in range(number)
    ]


def test_work_of_the_rdm_is_counted_between_messages(sim):
    """One thread sends alone: no queue has anything to compare."""
    events = [CoreEvent(CoreOp.COLLECT_ON), *_stores(5)]
    sim.run(Program([events, []], [(Remap(0, 0, 0), 0)], [[Stop(0, remaps=1)], []]), 5, 0)
    cycles = sim.rdm_cycles()
    threads = 3
    assert len(cycles) == 5
    # Check, a cycle for each queue, and push.
    assert sim.stats.searching == 4 * (threads + 2)
    assert 4 * 3 < sim.stats.decompressing <= cycles[-1] - cycles[0] - sim.stats.searching


def test_an_event_that_waits_for_its_own_unit_does_not_wait_for_the_rdm(sim):
    """The second granule of an access takes a cycle."""
    sim.run(Program([_stores(3, size=8, instructions=0), []]), 0, 0)
    assert (sim.stats.stalls, sim.stats.rdm_stalls) == (2, 0)


def test_cores_that_send_faster_than_the_rdm_takes_wait_for_it(sim):
    events = [CoreEvent(CoreOp.COLLECT_ON), *_stores(40)]
    sim.run(Program([events, events]), 80, 0)
    assert 100 < sim.stats.rdm_stalls <= sim.stats.stalls


def test_a_remap_waits_for_its_messages(sim):
    """The block before it is still that of the old thread, the one after it that of the new."""
    again = [CoreEvent(CoreOp.SWITCH_IN, index=2), *_BLOCK]
    program = Program(
        [[*_BLOCK, *again], []],
        [(Remap(0, 0, 0), 0), (Remap(0, 0, 2), 1)],
        [[Stop(0, remaps=1), Stop(len(_BLOCK), remaps=2)], []],
    )
    sim.run(program, 2, 0)
    assert [(step.kind, step.thread) for step in sim.rdm_steps()] == [
        (RdmStepKind.PUSH, 0), (RdmStepKind.COMPARE, 2), (RdmStepKind.PUSH, 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"stops": [[], [(0, 1, 0)]]}, "Stops of context 1 must have the 5 fields of Stop, not 3"),
        ({"paces": [np.zeros(2, np.uint32)] * 2}, "Pace of context 0 must be of its 3 events"),
    ],
)
def test_rows_that_the_library_would_misread(sim, parts, sentence):
    with pytest.raises(ValueError, match=sentence):
        sim.run(Program([_BLOCK, []], **parts), 1, 0)


def test_silence_ends_the_run(sim):
    program = Program([_BLOCK, []], [(Remap(0, 0, 0), 1)], [[Stop(0, remaps=1)], []])
    with pytest.raises(
        SimulationError, match=r"nothing moved for 5001 cycles .*: 0 messages and 0 of 1 remaps "
        r"done, events waiting and in flight by context 3\+0 0\+0",
    ):  # fmt: skip
        sim.run(program, 1, 0)


def test_simulations_are_independent(model):
    with FastSim(model) as one, FastSim(model) as other:
        one.rdm.control()
        one.run(Program([_BLOCK, []], [(Remap(0, 0, 0), 0)], [[Stop(0, remaps=1)], []]), 1, 0)
        assert other.stats.cycles < one.stats.cycles
        assert other.rdm.counters()["messages"] == 0


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"idle_percent": 100}, "idle_percent must be from 0 to 99, not 100"),
        ({"trap_stall": -1}, "trap_stall must be from 0 to 99, not -1"),
        ({"watchdog": 0}, "watchdog must be from 1 to .*, not 0"),
    ],
)
def test_timing_out_of_range(values, sentence):
    with pytest.raises(ValueError, match=sentence):
        Timing(**values)
