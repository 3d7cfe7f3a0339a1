"""Processes and Dask: the same results, the same bytes; clear words where there is no cluster."""

import sys

import pytest
from distributed import LocalCluster

from racetrap.evaluation.processes import processes
from racetrap.evaluation.sweep import executors
from racetrap.evaluation.sweep.executors import ClusterError, cluster
from racetrap.evaluation.sweep.grid import points_of
from racetrap.evaluation.sweep.point import measure, tasks_of
from racetrap.evaluation.sweep.results import csv_text, rows_of
from tests.support.pages.sweep_specs import SMALL, read


def sweep(spec, executor):
    points = points_of(spec)
    tasks = tasks_of(spec, points)
    results = {number: executor.submit(measure, task) for number, task in tasks.items()}
    found = {number: future.result() for number, future in results.items()}
    return csv_text(spec, rows_of(spec, points, found))


def test_a_cluster_gives_the_same_bytes(tmp_path):
    spec = read(tmp_path, SMALL.replace("[4, 16]", "[4, 8]"))
    with processes(1) as executor:
        here = sweep(spec, executor)
    with LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as local:
        with cluster(local.scheduler_address) as executor:
            there = sweep(spec, executor)
    assert here == there
    assert here.count("measured") == 4


def _break(_):
    raise RuntimeError("the lamp went out")


def test_a_worker_that_fails():
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as local:
        with pytest.raises(ClusterError, match=r"Workers of .* failed: the lamp went out"):
            with cluster(local.scheduler_address) as executor:
                executor.submit(_break, 1).result()


def test_no_scheduler(monkeypatch):
    monkeypatch.setattr(executors, "_CONNECT_SECONDS", 0.5)
    with pytest.raises(ClusterError, match=r"Scheduler tcp://127\.0\.0\.1:9 cannot be reached"):
        with cluster("tcp://127.0.0.1:9"):
            pass


def test_no_workers(monkeypatch):
    monkeypatch.setattr(executors, "_CONNECT_SECONDS", 0.5)
    with LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as local:
        with pytest.raises(ClusterError, match="has no worker"):
            with cluster(local.scheduler_address):
                pass


def test_no_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ClusterError, match="`distributed` was not found: install the extra"):
        with cluster("tcp://127.0.0.1:9"):
            pass
