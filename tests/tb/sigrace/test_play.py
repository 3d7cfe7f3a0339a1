"""Programs with threads on the cores, in each environment of the paper."""

import pytest

from tests.support.sigrace.testbench_configurations import CONFIGURATIONS
from tests.support.threads.random_traces import random_thread_trace


def _play(model, testbench, tmp_path, configuration, threads, **environment):
    path = tmp_path / "program.trace"
    random_thread_trace(7, threads=threads, events=400).write_binary(path)
    built = model("sigrace-tiny", **CONFIGURATIONS[configuration])
    plan = {"trace": str(path), "environment": {"quantum": 60, **environment}}
    return testbench(built, "play_tests", plan)


@pytest.mark.parametrize(
    ("configuration", "threads", "environment"),
    [
        ("small", 2, "migration"),
        pytest.param("small", 3, "multiplex", marks=pytest.mark.campaign),
        pytest.param("tiny", 2, "fixed", marks=pytest.mark.campaign),
        pytest.param("hashed-two-contexts", 4, "multithreaded", marks=pytest.mark.campaign),
    ],
)  # fmt: skip
def test_program_is_played(model, testbench, tmp_path, configuration, threads, environment):
    result = _play(model, testbench, tmp_path, configuration, threads, name=environment)
    assert [case.failure for case in result.cases] == [None]
    (end,) = [note for note in result.notes if "messages" in note]
    assert end["events"] > 400
    assert end["messages"] > 30
    assert end["counters"]["dropped_sequence"] == end["counters"]["dropped_thread"] == 0


def test_too_many_threads_are_refused(model, testbench, tmp_path):
    result = _play(model, testbench, tmp_path, "small", 3, name="fixed")
    assert len(result.failures) == 1
    assert "has only 2 contexts" in result.failures[0].failure
