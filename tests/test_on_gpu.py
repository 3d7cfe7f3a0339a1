"""A GPU as the subject: what is kept, and the suites with the executor in the GPU's place."""

import pytest

from docs.site.on_gpu import ON_GPU_TABLES, cured_table, differences_table, kernels_table
from tests.support.gpu.comparison.comparing import complaints_about
from tests.support.gpu.comparison.ours import kernels_of
from tests.support.gpu.comparison.packing import suite_jobs
from tests.support.gpu.on_gpu import tasks
from tests.support.gpu.on_gpu.cured import cured_names
from tests.support.gpu.on_gpu.differences import differences, known, of_racecheck, pairs_of
from tests.support.gpu.on_gpu.measuring import on_executor, packed, unpacked
from tests.support.gpu.on_gpu.programs import form_names
from tests.support.gpu.on_gpu.results import kept, merged, results_in

RESULTS = kept()
KERNELS = RESULTS["kernels"]
JOBS = {job.name: job for job in suite_jobs()}
RUN = {name: row for name, row in KERNELS.items() if "lines" in row["gpu"]}


def test_everything_has_been_measured():
    assert KERNELS.keys() == JOBS.keys()
    assert RESULTS["programs"].keys() == set(form_names())
    assert RESULTS["cured"].keys() == set(cured_names())


def test_log_of_the_executor_has_the_same_pairs_of_lines():
    differing = {
        name: row for name, row in KERNELS.items()
        if row["executor"] != row["ours"] and not isinstance(row["ours"], str)
    }  # fmt: skip
    assert [name for name in differing if name in RUN] == []
    assert {row["executor"] for row in differing.values()} == {
        row["gpu"]["refused"] for row in differing.values()
    }


def test_gpu_reports_nothing_that_the_executor_does_not():
    assert [name for name, row in RUN.items() if not row["ours"] and row["gpu"]["lines"]] == []
    more = [
        each for row in RUN.values() if not isinstance(row["ours"], str)
        for each in row["gpu"]["lines"] if each not in row["ours"]
    ]  # fmt: skip
    assert more == []


def test_no_race_is_left_behind_an_edit():
    edited = {name: row for name, row in RESULTS["cured"].items() if "edits" in row}
    for row in edited.values():
        assert not row["gpu"].get("lines")
        assert not row["gpu"].get("wrong")
        assert not pairs_of(row["ours"] if isinstance(row["ours"], list) else row["ours"]["lines"])


def test_every_difference_has_a_sentence():
    found = differences(RESULTS)
    assert complaints_about(found, known()) == []
    assert len(complaints_about(found[1:], known())) == 1
    assert len(complaints_about([*found, found[0]._replace(name="new")], known())) == 1


def test_only_pairs_in_shared_memory_are_set_beside_racecheck():
    row = {"ours": [["a.cu:1", "a.cu:2", "shared"], ["a.cu:3", "a.cu:3", "global"]]}
    both = ["a.cu:1", "a.cu:2", "error"]
    assert list(of_racecheck("k", row, [both])) == []
    found = of_racecheck("k", row, [["a.cu:1", "a.cu:2", "info"], ["a.cu:3", "a.cu:4", "warning"]])
    assert [each.details for each in found] == ["a.cu:1 and a.cu:2", "a.cu:3 and a.cu:4"]


def test_race_with_an_edit_is_in_the_tables():
    results, before = kept(), cured_table(RESULTS)
    results["cured"]["barrier/bitonic_sort"]["gpu"]["lines"].append(["a.cu:1", "a.cu:1", "shared"])
    assert cured_table(results) != before
    assert len(complaints_about(differences(results), known())) == 1


def test_results_of_another_machine_take_the_place_of_older_ones():
    new = {"machine": RESULTS["machine"], "kernels": {"a": {}}}
    assert merged(RESULTS, new)["kernels"] == {"a": {}} | KERNELS
    assert merged(RESULTS, new)["programs"] == RESULTS["programs"]
    other = new | {"machine": "another", "programs": {}, "cured": {}}
    assert merged(RESULTS, other) == other


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


def test_tasks_give_rows_as_they_are_kept_and_each_is_taken_once(tmp_path):
    name = "micro/norace_interwarp_blkatom"
    tasks.pack(tmp_path / "packed", {"kernels": [name], "programs": [], "cured": []})
    for _ in range(2):
        (tmp_path / "out").mkdir(exist_ok=True)
        tasks.work(tmp_path / "packed", tmp_path / "out")
        row = results_in(tmp_path / "out")["kernels"].pop(name)
        assert row | {"gpu": KERNELS[name]["gpu"]} == KERNELS[name]
    (task,) = tasks.tasks_of(tmp_path / "packed")
    assert task == ("kernels", (name,))
    assert [path.name for path in tmp_path.glob("out/task_*")] == ["task_0"]


@pytest.mark.campaign
@pytest.mark.parametrize("name", JOBS)
def test_log_with_the_executor_in_the_gpu_s_place(name):
    job = JOBS[name]
    ours, logged = (on_executor(job, kernels_of(job.source), each) for each in (False, True))
    assert logged == ours or isinstance(ours, str) or "cannot be made on a GPU" in str(logged)
    if name in KERNELS:
        assert (ours, logged) == (KERNELS[name]["ours"], KERNELS[name]["executor"])
