"""Registers, launches and the ways in which a simulation ends early."""

import pytest

from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY
from racetrap.golden_model.scord.packets import TableRow, Transaction, TransactionKind
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.scord.fast_simulation import FastSim

_LINE = Transaction(TransactionKind.STORE, strong=1, line=64, mask=0b1011, pc=0x40)


def test_registers(sim):
    assert sim.read("ID") == 0x53635244
    sim.write("DATA_BASE_LO", 0x1234)
    assert sim.read("DATA_BASE_LO") == 0x1234
    with pytest.raises(KeyError):
        sim.read("NO_SUCH_REGISTER")


def test_refused_register(sim):
    with pytest.raises(SimulationError, match="Register ID must answer OKAY, not response 2"):
        sim.write("ID", 1)


def test_steps_of_one_store(sim, region):
    sim.launch(region)
    sim.run(sim.queues([(0, _LINE)]), [3])
    assert [step.packet.word for step in sim.steps(0)] == [2048, 2049, 2051]
    assert {step.row for step in sim.steps(0)} == {TableRow.STORE_FIRST}
    assert len(sim.step_cycles(0)) == 3
    assert sim.counters()["accesses"] == 3
    assert sim.entry(1) == sim.steps(0)[1].after


def test_more_steps_than_expected_are_kept(sim, region):
    sim.launch(region)
    sim.run(sim.queues([(0, _LINE)]), [2])
    assert len(sim.steps(0)) == 3


def test_preset_memory_stands_for_a_sweep(model):
    region = Region(data_base=0, size_log2=21)
    steps, ends = [], []
    for sweep in (False, True):
        with FastSim(model, seed=7) as sim:
            sim.launch(region, sweep=sweep)
            sim.run(sim.queues([(0, _LINE)]), [3])
            steps.append(sim.steps(0))
            ends.append(sim.stats.cycles)
            last = region.entries(model.params) - 1
            assert sim.entry(last) == UNINITIALISED_ENTRY
            assert sim.reached is None if sweep else {last} < set(sim.reached)
    assert steps[0] == steps[1]
    assert ends[0] < 1000 < region.entries(model.params) < ends[1]


def test_largest_region(model):
    region = Region(0, model.params.max_region_log2)
    line = (1 << region.size_log2 - 7) - 1
    with FastSim(model, seed=7) as sim:
        sim.launch(region)
        sim.run(sim.queues([(0, _LINE._replace(line=line))]), [3])
        entries = region.entries(model.params)
        first = entries - 32  # of the line's words
        reached, read = {*sim.reached}, {first, first + 1, first + 3, entries - 1}
        assert read <= reached
        swept = {sim.entry(index) for index in reached - read}
        assert swept == {model.params.uninitialised_entry}
        assert sim.entry(first + 3) == sim.steps(0)[-1].after


def test_silence_ends_the_run(sim, region):
    sim.launch(region)
    with pytest.raises(SimulationError, match=r"nothing moved for 5001 cycles .* steps by bank 3"):
        sim.run(sim.queues([(0, _LINE)]), [4])


def test_refused_launch(sim):
    with pytest.raises(SimulationError, match="Launch must take the region"):
        sim.launch(Region(data_base=0x2001, size_log2=13))


def test_access_outside_the_memory_ends_the_run(sim, region):
    sim.launch(region)
    sim._library.sim_metadata(sim._sim, 0, None, 0)
    with pytest.raises(SimulationError, match="metadata read of a bad address"):
        sim.run(sim.queues([(0, _LINE)]), [3])


def test_simulations_are_independent(model, region):
    with FastSim(model) as one, FastSim(model) as other:
        one.launch(region)
        one.run(one.queues([(0, _LINE)]), [3])
        assert other.stats.cycles < one.stats.cycles
        assert other.counters()["accesses"] == 0


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"idle_percent": 100}, "idle_percent must be from 0 to 99, not 100"),
        ({"back_pressure": -1}, "back_pressure must be from 0 to 99, not -1"),
        ({"latency": 0}, "latency must be from 1 to .*, not 0"),
        ({"jitter": -1}, "jitter must be from 0 to .*, not -1"),
        ({"watchdog": 0}, "watchdog must be from 1 to .*, not 0"),
    ],
)
def test_timing_out_of_range(values, sentence):
    with pytest.raises(ValueError, match=sentence):
        MemoryTiming(**values)
