"""Running a sweep: what is kept, what is measured again, what a failure leaves behind."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from racetrap.evaluation.sweep import point
from racetrap.evaluation.sweep.grid import points_of
from racetrap.evaluation.sweep.point import SourcesDiffer, measure
from racetrap.evaluation.sweep.runner import PointFailed, Store, measure_missing, tasks_of
from racetrap.fpga.flow.fit import DoesNotFit
from racetrap.fpga.flow.synthesis import MemoryLost
from tests.support.pages.sweep_specs import read


class Job:
    """Stands in for measuring; fails at the call of a given number."""

    def __init__(self, fails_at=None):
        self.fails_at = fails_at
        self.keys = []

    def __call__(self, task):
        self.keys.append(task.key)
        if len(self.keys) == self.fails_at:
            raise RuntimeError("the lamp went out")
        return {"key": task.key, "figures": {"misses": task.params.ratio}}


@pytest.fixture
def tasks(tmp_path):
    spec = read(tmp_path)
    return tasks_of(spec, points_of(spec))


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "points")


def run(tasks, store, job):
    with ThreadPoolExecutor(1) as executor:
        return list(measure_missing(tasks, store, executor, job))


def test_refused_points_have_no_task(tasks):
    assert list(tasks) == [0, 1, 2]


def test_resume_after_a_failure_in_the_middle(tasks, store):
    broken = Job(fails_at=2)
    with pytest.raises(PointFailed, match="Point 1 cannot be measured: the lamp went out"):
        run(tasks, store, broken)
    kept = [number for number, task in tasks.items() if store.load(task.key)]
    assert 0 in kept
    assert 1 not in kept
    job = Job()
    assert sorted(run(tasks, store, job)) == [number for number in tasks if number not in kept]
    for task in tasks.values():
        assert store.load(task.key)
    assert run(tasks, store, Job(fails_at=1)) == []


def test_an_interrupt_keeps_what_was_measured(tasks, store):
    with ThreadPoolExecutor(1) as executor:
        done = measure_missing(tasks, store, executor, Job())
        first = next(done)
        with pytest.raises(KeyboardInterrupt):
            done.throw(KeyboardInterrupt)
    assert [n for n, task in tasks.items() if store.load(task.key)] == [first]


@pytest.mark.parametrize("text", ["", '{"key": ', "[]", '{"key": "another"}'])
def test_a_spoilt_file_is_measured_again(tasks, store, text):
    run(tasks, store, Job())
    (store.folder / f"{tasks[1].key}.json").write_text(text)
    assert run(tasks, store, Job()) == [1]


def test_a_file_is_whole_or_not_there(store, monkeypatch):
    result = {"key": "k", "figures": {}}
    store.save(result)
    monkeypatch.setattr("pathlib.Path.replace", lambda self, target: None)
    store.save(result | {"figures": {"misses": 1}})
    assert store.load("k") == result


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
    assert len({task.key, *(other.key for other in others)}) == 7
    assert replace(task).key == task.key


def test_measure(tasks):
    result = measure(tasks[2])
    assert result == json.loads(json.dumps(result))
    assert result["key"] == tasks[2].key
    assert result["figures"] == {
        "runs": 2, "races": 1, "misses": 0, "false_reports": 0, "state_bits": 23520,
        "metadata_percent": 12.5,
    }  # fmt: skip


@pytest.mark.parametrize("error", [DoesNotFit, MemoryLost])
def test_a_point_that_is_not_for_the_device_is_refused(tasks, store, monkeypatch, error):
    def cost_figures(*_):
        raise error("Block must fit x, not need 31 of 30 RAM")

    monkeypatch.setattr(point, "cost_figures", cost_figures)
    assert sorted(run(tasks, store, measure)) == list(tasks)
    result = store.load(tasks[2].key)
    assert result["refused"] == "Block must fit x, not need 31 of 30 RAM"
    assert "figures" not in result


def test_a_worker_with_other_sources_is_refused(tasks):
    with pytest.raises(SourcesDiffer, match="Worker must have the sources"):
        measure(replace(tasks[0], sources="other"))
