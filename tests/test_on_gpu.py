"""A GPU as the subject: what is kept, and the suites with the executor in the GPU's place."""

import pytest

from docs.site.on_gpu import ON_GPU_TABLES, differences_table, kernels_table
from tests.support.gpu.comparison.ours import kernels_of
from tests.support.gpu.comparison.packing import suite_jobs
from tests.support.gpu.on_gpu.measuring import on_executor, packed, unpacked
from tests.support.gpu.on_gpu.results import kept

KERNELS = kept()["kernels"]
JOBS = {job.name: job for job in suite_jobs()}
RUN = {name: row for name, row in KERNELS.items() if "lines" in row["gpu"]}


def test_log_of_the_executor_has_the_same_pairs_of_lines():
    differing = [name for name, row in KERNELS.items() if row["executor"] != row["ours"]]
    assert [name for name in differing if name in RUN] == []
    assert {KERNELS[name]["executor"] for name in differing} == {
        KERNELS[name]["gpu"]["refused"] for name in differing
    }


def test_gpu_reports_nothing_that_the_executor_does_not():
    assert [name for name, row in RUN.items() if not row["ours"] and row["gpu"]["lines"]] == []
    more = {name for name, row in RUN.items()
            if [each for each in row["gpu"]["lines"] if each not in row["ours"]]}  # fmt: skip
    assert more == set()


def test_pair_that_only_the_gpu_reports_is_in_the_tables():
    results, name = kept(), next(iter(RUN))
    before = kernels_table(results)
    results["kernels"][name]["gpu"]["lines"].append(["a.cu:1", "b.cu:2", "global"])
    assert "a.cu:1 and b.cu:2" in differences_table(results)
    assert kernels_table(results) != before
    for make in ON_GPU_TABLES.values():
        assert make(results)


def test_packed_kernels_are_unpacked_as_they_were():
    jobs = list(JOBS.values())[:3]
    assert unpacked(packed(jobs, {"a.ptx": "text"})) == (jobs, {"a.ptx": "text"})


@pytest.mark.campaign
@pytest.mark.parametrize("name", JOBS)
def test_log_with_the_executor_in_the_gpu_s_place(name):
    job = JOBS[name]
    ours, logged = (on_executor(job, kernels_of(job.source), each) for each in (False, True))
    assert logged == ours or "cannot be made on a GPU" in str(logged)
    if name in KERNELS:
        assert (ours, logged) == (KERNELS[name]["ours"], KERNELS[name]["executor"])
