"""Processes and Dask: the same results, the same bytes; clear words where there is no cluster."""

import sys

import pytest
from distributed import LocalCluster

from racetrap.evaluation.processes import processes
from racetrap.evaluation.sweep import executors
from racetrap.evaluation.sweep.executors import ClusterError, cluster
from racetrap.evaluation.sweep.grid import points_of
from racetrap.evaluation.sweep.results import csv_text, rows_of
from racetrap.evaluation.sweep.runner import Store, measure_missing, tasks_of
from tests.support.pages.sweep_specs import SMALL, read


def sweep(spec, store, executor):
    points = points_of(spec)
    tasks = tasks_of(spec, points)
    done = list(measure_missing(tasks, store, executor))
    assert sorted(done) == list(tasks)
    results = {number: store.load(task.key) for number, task in tasks.items()}
    return csv_text(spec, rows_of(spec, points, results))


def test_a_cluster_gives_the_same_bytes(tmp_path):
    spec = read(tmp_path, SMALL.replace("[4, 16]", "[4, 8]"))
    with processes(1) as executor:
        here = sweep(spec, Store(tmp_path / "here"), executor)
    with LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as local:
        with cluster(local.scheduler_address) as executor:
            there = sweep(spec, Store(tmp_path / "there"), executor)
    assert here == there
    assert here.count("measured") == 4
    names = [sorted(path.name for path in (tmp_path / at).iterdir()) for at in ("here", "there")]
    assert names[0] == names[1]


def test_no_scheduler(monkeypatch):
    monkeypatch.setattr(executors, "_CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterError, match=r"Scheduler tcp://127\.0\.0\.1:9 cannot be reached"):
        with cluster("tcp://127.0.0.1:9"):
            pass


def test_no_workers(monkeypatch):
    monkeypatch.setattr(executors, "_CONNECT_SECONDS", 0.5)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as local:
        with pytest.raises(ClusterError, match="must have at least one worker, not none"):
            with cluster(local.scheduler_address):
                pass


def test_no_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match="`distributed` was not found: install the extra"):
        with cluster("tcp://127.0.0.1:9"):
            pass
