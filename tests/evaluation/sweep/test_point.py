"""Points of a sweep: their tasks, what their results depend on, what measures them."""

import json
from dataclasses import replace

import pytest

from racetrap.evaluation.kept_results import result_key
from racetrap.evaluation.sweep import point
from racetrap.evaluation.sweep.grid import points_of
from racetrap.evaluation.sweep.point import SourcesDiffer, measure, tasks_of
from racetrap.fpga.flow.synthesis import MemoryLost
from racetrap.sim.failure import DoesNotFit
from tests.support.pages.sweep_specs import read


@pytest.fixture
def tasks(tmp_path):
    spec = read(tmp_path)
    return tasks_of(spec, points_of(spec))


def test_refused_points_have_no_task(tasks):
    assert list(tasks) == [0, 1, 2]


def test_the_key_follows_from_everything(tasks):
    task = tasks[0]
    others = [
        tasks[1],
        replace(task, cost=task.cost.model_copy(update={"elaborate": True})),
        replace(task, quality=task.quality.model_copy(update={"seed": 6})),
        replace(task, sources="other"),
        replace(task, tools={"yosys": "1"}),
        replace(task, recordings={"fft": "1"}),
    ]
    keys = {result_key(measure, each) for each in (task, *others)}
    assert len(keys) == 7
    assert result_key(measure, replace(task)) in keys


def test_measure(tasks):
    result = measure(tasks[2])
    assert result == json.loads(json.dumps(result))
    assert result["figures"] == {
        "runs": 2, "races": 1, "misses": 0, "false_reports": 0, "state_bits": 23520,
        "metadata_percent": 12.5,
    }  # fmt: skip


@pytest.mark.parametrize("error", [DoesNotFit, MemoryLost])
def test_a_point_that_is_not_for_the_device_is_refused(tasks, monkeypatch, error):
    def cost_figures(*_):
        raise error("Block must fit x, not need 31 of 30 RAM")

    monkeypatch.setattr(point, "cost_figures", cost_figures)
    result = measure(tasks[2])
    assert result["refused"] == "Block must fit x, not need 31 of 30 RAM"
    assert "figures" not in result


def test_a_worker_with_other_sources_is_refused(tasks):
    with pytest.raises(SourcesDiffer, match="Worker has other sources"):
        measure(replace(tasks[0], sources="other"))
