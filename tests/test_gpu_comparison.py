"""Comparison with a GPU: what the sanitizer prints is read, disagreements need a sentence, and what
is packed runs in the executor."""

import json
import re
from collections import Counter

import pytest

from docs.site.beside_a_gpu import PAGE_TABLES, compared
from racetrap.golden_model.ptx_memory_model.candidates.judge import judge
from racetrap.golden_model.ptx_memory_model.litmus.parser import read_litmus
from racetrap.golden_model.ptx_memory_model.operational import InOrder
from racetrap.sim.gpu.stress.subject import settings_of
from tests.gpu_comparison import main
from tests.support import REPOSITORY
from tests.support.campaign import later_but
from tests.support.gpu.comparison.comparing import (
    complaints_about,
    disagreements,
    explanations,
    of_drivers,
    of_kernels,
    of_litmus,
    of_programs,
)
from tests.support.gpu.comparison.ours import (
    final_memory,
    kernels_of,
    litmus_outcomes,
    shown,
)
from tests.support.gpu.comparison.packing import LITMUS_FOLDER, litmus_kernels, suite_jobs
from tests.support.gpu.comparison.results import PARTS, complaints, digest, hazards, kept, measured

SAMPLES = REPOSITORY / "tests" / "support" / "gpu" / "comparison" / "samples"
#: As the sanitizer printed it; of racecheck's four hazards the last is cut off.
RACECHECK, SYNCCHECK = (
    (SAMPLES / f"{tool}.txt").read_text(encoding="utf-8") for tool in ("racecheck", "synccheck")
)
MACHINE = {
    "nvidia-smi": "NVIDIA H100 80GB HBM3, 580.159.04, 9.0",
    "nvcc": "Cuda compilation tools, release 13.0, V13.0.88",
    "sanitizer": "NVIDIA (R) Compute Sanitizer\nVersion 2025.3.1.0 (build 36400806)",
}
KERNELS, _ = litmus_kernels()
#: Those whose instructions the executor has.
RUNNABLE = [
    name for name, kernel in KERNELS.items()
    if not re.search(r"mbarrier|cluster\.|cp\.async", kernel.text)
]  # fmt: skip
JOBS = {job.name: job for job in suite_jobs()}
#: Kernels and litmus tests that are run in `make test`.
QUICK = {
    "constructs/lanes_store_values", "concurrency/call_one_word", "micro/norace_interwarp_blkatom",
    "weak_memory/dekker_full", "MP+relaxed", "SB+relaxed", "Exch+Exch",
}  # fmt: skip


def _raw(**parts):
    return {"machine": MACHINE, **{part: {} for part in PARTS}} | parts


def test_hazards_are_pairs_of_lines_with_the_gravest_level():
    assert hazards(RACECHECK) == {
        ("named_barriers.cu:14", "named_barriers.cu:18"): "error",
        ("warp_sort.cu:13", "warp_sort.cu:15"): "warning",
    }
    assert hazards("=========") == {}


def test_summary_counts_and_its_lack_is_no_verdict():
    assert (complaints(RACECHECK), complaints(SYNCCHECK), complaints("cut")) == (257, 16, None)


def test_runs_of_a_program_are_counted_by_what_they_print():
    wrong = "\n@begin\n========= Host\n3 wrong\n\n@end 1 cudaSuccess\n"
    runs = {
        "racecheck": {"text": RACECHECK}, "synccheck": {"text": SYNCCHECK},
        "plain": {"text": f"{wrong}{wrong}\n@begin\n@cut 9\n in x.cu:3\n=========\n0 wrong\n"
                  "\n@end 0 cudaSuccess\n\n@begin\nlost"},
    }  # fmt: skip
    found = measured(_raw(programs={"right/named_barriers": runs}), {})
    program = found["programs"]["right/named_barriers"]
    assert program["outputs"]["3 wrong"] == [2, 2]
    assert sum(count for count, _ in program["outputs"].values()) == 4
    assert found["machine"]["compiler"] == "13.0.88"


def test_memories_of_all_runs_of_a_kernel_are_counted():
    long = "00" * 30 + "01"
    runs = {
        "plain": {"text": f"@state 290 2a 01\n@state 10 {long} 01\n@end 300 2"},
        "racecheck": {"text": "@state 1 2a 01\n@end 1 1"}, "synccheck": {"text": SYNCCHECK},
    }  # fmt: skip
    found = measured(_raw(kernels={"@batch": {}, "a/kernel": runs}), {})["kernels"]
    assert found == {
        "a/kernel": {
            "states": {"2a 01": 291, digest(f"{long} 01"): 10}, "hazards": [],
            "synccheck": ["Divergent thread(s) in warp"],
        }
    }  # fmt: skip


def test_outcomes_of_rounds_are_added():
    rounds = {
        "round 1": {"text": "@outcome 5 0 1\n@outcome 7 1 1\n@end 1 12"},
        "round 2": {"text": "@outcome 3 0 1\n@end 1 3"},
    }
    found = measured(_raw(litmus={"MP": rounds}), {"MP": ["0:%r0", "0:%r1"]})["litmus"]
    assert found == {"MP": {"columns": ["0:%r0", "0:%r1"], "outcomes": {"0 1": 8, "1 1": 7}}}


def test_kept_results_disagree_only_where_a_sentence_says_why():
    results, rows = compared()
    assert complaints_about(disagreements(results, rows)) == []
    assert Counter(map(len, (results["gpu"]["programs"], rows))) == {174: 1, 198: 1}
    for make in PAGE_TABLES.values():
        assert "not explained" not in make(results, rows)


@pytest.mark.parametrize(
    ("change", "about"),
    [
        ({"racecheck": 3}, "racecheck alone reports"),
        ({"synccheck": 1}, "synccheck reports"),
        ({"synccheck": None}, "no verdict of the sanitizer"),
        ({"outputs": {"1 wrong": [5, 1]}}, "wrong without a race"),
    ],
)
def test_planted_disagreement_about_a_program_needs_a_sentence(change, about):
    results = kept()
    name = "right/atomic_histogram"
    gpu = {name: results["gpu"]["programs"][name] | change}
    (found,) = of_programs(gpu, results["ours"]["programs"])
    assert (found.about, found.name) == (about, name)
    (sentence,) = complaints_about([found], {})
    assert sentence.startswith(f"{name}: {about}")
    assert complaints_about([found], {(about, name): "why"}) == []


def test_planted_disagreements_about_kernels_and_litmus_tests_are_found():
    results, rows = compared()
    name = "constructs/lanes_store_values"
    kernels = {name: results["gpu"]["kernels"][name] | {"states": {"2a 00": 300}}}
    ours = {name: results["ours"]["kernels"][name] | {"missing": ["2a 00"], "racy": True}}
    assert [each.about for each in of_kernels(kernels, ours)] == ["memory never shown"]
    (row,) = (row for row in rows if row.name == "MP+rel+acq")
    planted = row._replace(counts=row.counts | {(1, 0): 1})
    assert not list(of_litmus([row]))
    assert [each.name for each in of_litmus([planted])] == [row.name]


def test_planted_disagreement_about_a_driver_is_found():
    runs = {"run 0": {"status": 0, "text": "out 1 2\n"}, "run 1": {"status": 3, "text": ""}}
    found = measured(_raw(drivers={"device_reduce_sum": runs}), {})["drivers"]
    assert found["device_reduce_sum"]["right"] == 0
    (disagreement,) = of_drivers(found)
    assert disagreement.details == "0 of 2 runs"
    assert [each.about for each in of_drivers({"unknown": {"outputs": {"": 1}, "right": 1}})] == [
        "executor has no result"
    ]


def test_sentence_of_what_does_not_disagree_is_refused():
    (sentence,) = complaints_about([], {("racecheck is silent", "x"): "why"})
    assert (
        sentence == "x: explanations.toml says why racecheck is silent, which is not so; delete it"
    )


def test_command_ends_with_1_if_something_is_not_explained(monkeypatch, capsys):
    results = kept()
    results["gpu"]["litmus"] = {}
    monkeypatch.setattr("tests.gpu_comparison.kept", lambda: results)
    known = {key: why for key, why in explanations().items() if key[0] != "outcome is forbidden"}
    monkeypatch.setattr("tests.support.gpu.comparison.comparing.explanations", lambda: known)
    assert main(["compare", "--json"]) == 0
    unexplained = [each for each in json.loads(capsys.readouterr().out) if not each["because"]]
    assert unexplained == []
    results["gpu"]["programs"]["right/atomic_histogram"]["racecheck"] = 1
    assert main(["compare"]) == 1
    assert "atomic_histogram: racecheck alone reports" in capsys.readouterr().out


@pytest.mark.parametrize("memory", [None, settings_of("views", InOrder())])
def test_executor_keeps_the_lane_s_value_that_the_gpu_keeps(memory):
    job = JOBS["constructs/lanes_store_values"]
    (state,) = kept()["gpu"]["kernels"][job.name]["states"]
    assert final_memory(job, kernels_of(job.source), memory=memory) == state


@pytest.mark.parametrize("name", later_but(QUICK.__contains__, sorted(JOBS)))
def test_executor_shows_the_memories_of_the_gpu(name):
    results = kept()
    wanted = results["gpu"]["kernels"][name]["states"]
    found = shown(JOBS[name], kernels_of(JOBS[name].source), wanted)
    missing = [each for each in wanted if each not in found]
    assert missing == results["ours"]["kernels"][name].get("missing", [])


@pytest.mark.parametrize("name", later_but(QUICK.__contains__, RUNNABLE))
def test_litmus_kernel_observes_what_is_allowed(name):
    states = judge(read_litmus(LITMUS_FOLDER / f"{name}.litmus")).states
    allowed = {tuple(state.values.values()) for state in states}
    assert litmus_outcomes(KERNELS[name], seed=3) <= allowed
