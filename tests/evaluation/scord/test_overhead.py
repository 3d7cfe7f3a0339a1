"""ScoRD's cost in time: what is measured of an application, and the tables made of it."""

from dataclasses import fields, replace

import pytest

from racetrap.evaluation.scord.overhead import (
    CONFIGURATIONS,
    EXECUTED,
    SCHEDULES,
    Overhead,
    OverheadRun,
    execute,
    executions,
    overhead,
    replay,
)
from racetrap.evaluation.scord.overhead_forms import HARDWARE, MODELS
from racetrap.evaluation.scord.overhead_tables import make_tables, problems_of
from racetrap.sim.gpu.executor.machine.event_log import Unlogged
from racetrap.sim.gpu.timing.counts import TimingCounts


def _overhead(program="RED", **cycles):
    """Results of 100 cycles and 10 DRAM accesses, but for some configurations' cycles."""
    zeros = dict.fromkeys((field.name for field in fields(TimingCounts)), 0)
    named = {name.replace("_", " "): value for name, value in cycles.items()}
    counts = {
        name: TimingCounts(**zeros | {"cycles": named.get(name, 100), "data_reads": 8,
                                      "metadata_writes": 2})
        for name in CONFIGURATIONS
    }  # fmt: skip
    models = dict.fromkeys(MODELS, TimingCounts(**zeros | {"cycles": 100}))
    executed = {
        name: [replace(counts[name], cycles=counts[name].cycles + more) for more in (50, 100, 150)]
        for name in EXECUTED
    }
    return Overhead(program, 7, counts, 0.5, 2.5, executed, models)


def _with_forms(model, hardware):
    """Results of which the model of a preset has some cycles, and its hardware some."""
    found = _overhead()
    counts = found.counts["none"]
    models = dict.fromkeys(MODELS, counts) | {"scord": replace(counts, cycles=model)}
    return replace(
        found, models=models,
        hardware=dict.fromkeys(HARDWARE, counts) | {"scord": replace(counts, cycles=hardware)},
    )  # fmt: skip


def _rows(found, name):
    (table,) = (each for each in make_tables(found) if each.name == name)
    return {row[0]: row[1:] for row in table.rows}


def _measured(run):
    replayed = replay(run)
    return overhead(run, replayed, list(map(execute, executions(run, replayed.region))))


def test_an_application_is_measured():
    found = _measured(OverheadRun("1DC", "tiny", 1))
    assert found.events > 500
    assert found.counts.keys() == CONFIGURATIONS.keys()
    assert found.executed.keys() == set(EXECUTED)
    assert min(found.slowdowns_executed("base design")) > 1
    assert {len(set(each)) for each in found.executed.values()} == {SCHEDULES}
    assert not problems_of([found])
    assert found.counts["ScoRD"].metadata_reads < found.counts["base design"].metadata_reads
    assert found.slowdown() > 1
    one_bank, wide = (found.models[name].cycles for name in ("scord", "scord-wide"))
    assert one_bank > wide > found.counts["ScoRD, distant words"].cycles
    assert {each.transactions > 100 for each in found.models.values()} == {True}
    assert found.hardware == {}


def test_an_execution_that_forgets_its_events_takes_the_same_time(monkeypatch):
    run = OverheadRun("1DC", "tiny", 1)
    (item, *_) = executions(run, replay(run).region)
    kept = execute(item).counts
    forgotten = []
    monkeypatch.setattr("racetrap.sim.gpu.executor.machine.event_log.MOST_KEPT", 1)
    monkeypatch.setattr("racetrap.sim.gpu.executor.machine.launch._SETTLE_INTERVAL", 1)
    monkeypatch.setattr(Unlogged, "feed", lambda self, events, *lanes: forgotten.append(events))
    assert execute(item).counts == kept
    assert len(forgotten) > 10


def test_slowdowns_and_their_mean():
    found = [_overhead(ScoRD=150), _overhead("1DC", ScoRD=200)]
    assert _rows(found, "figure-8")["1DC"] == (1.0, 2.0, 1.0, 1.88)
    assert _rows(found, "execution")["1DC"] == (1.0, 1.522, 1.0, 1.88)
    assert _rows(found, "schedules")["1DC"] == (1.0, 1.0, 1.4, 1.667, 1.0, 1.0)
    assert _rows(found, "figure-8")["mean"] == (1.0, 1.75, 1.0, 1.35)


def test_traffic_is_that_of_data_and_metadata():
    assert _rows([_overhead()], "figure-9")["RED"] == (0.8, 0.2, 0.8, 0.2)


def test_shares_are_of_what_is_saved():
    found = _overhead(ScoRD=160, ScoRD_without_lhd=170, ScoRD_without_noc=130, ScoRD_without_md=150)
    assert _rows([found], "figure-10")["RED"] == (0, 75, 25, None, None, None)
    assert _rows([_overhead()], "figure-10")["RED"][:3] == (0, 0, 0)


@pytest.mark.parametrize(
    ("cycles", "holds"), [({"ScoRD": 90}, "yes"), ({"ScoRD": 110}, "no")], ids=["less", "more"]
)
def test_statements_follow_from_the_numbers(cycles, holds):
    rows = _rows([_overhead(**cycles)], "statements")
    assert rows["caching of metadata helps everywhere"][1] == holds


def test_forms_are_beside_each_other():
    found = [_with_forms(300, 300)]
    assert _rows(found, "models")["RED"][-1] == 3.0
    assert _rows(found, "hardware")["RED"] == (1.0, 3.0, 1.0, 1.0)
    assert _rows([_overhead()], "hardware") == {}


def test_a_model_takes_the_cycles_of_its_hardware():
    assert problems_of([_with_forms(300, 300)]) == []
    assert problems_of([_with_forms(300, 301)]) == [
        "RED: the model of scord must take the cycles of the hardware, 301, not 300"
    ]


@pytest.mark.campaign
@pytest.mark.parametrize("program", ["RED", "GCON"])
def test_hardware_in_the_loop_takes_the_models_cycles(program):
    found = _measured(OverheadRun(program, "tiny", 1, has_hardware=True))
    assert problems_of([found]) == []
    assert found.hardware.keys() == HARDWARE.keys()
    assert {each.transactions > 100 for each in found.hardware.values()} == {True}


def test_a_detector_without_costs_takes_no_time():
    assert problems_of([_overhead(ScoRD_without_costs=101), _overhead()]) == [
        "RED: ScoRD without costs takes other cycles than no detection"
    ]
