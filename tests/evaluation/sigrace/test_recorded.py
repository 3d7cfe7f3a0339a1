"""Recorded programs on SigRace's hardware: what is compared, and differences as results."""

import pytest

from racetrap.evaluation.sigrace import recorded
from racetrap.evaluation.sigrace.recorded import RecordedProgram, compare_program
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.sigrace.stream_compare import StreamCompare
from tests.support.threads.random_traces import random_thread_trace


@pytest.fixture
def job(sigrace_tiny, monkeypatch):
    trace = random_thread_trace(1, 2, events=400, addresses=24)
    monkeypatch.setattr(recorded, "program_trace", lambda name, size, threads: trace)
    monkeypatch.setattr(recorded, "_SHARE", 150)
    return RecordedProgram(sigrace_tiny, "fft", "tiny", seed=5)


@pytest.mark.campaign
def test_a_program_in_shares(job):
    found = compare_program(job)
    assert (found.program, found.difference) == ("fft", "")
    assert found.counts["events"] > 400
    assert found.counts["rdm_steps"] > found.counts["messages"] > 20
    assert found.counts["conflicts"] > 0
    assert found.seconds > 0


def test_a_difference_ends_the_program(job, monkeypatch):
    def differs(self, events):
        raise Mismatch("Step 3 must be a push")

    monkeypatch.setattr(StreamCompare, "run", differs)
    found = compare_program(job)
    assert found.difference == "Step 3 must be a push"
    assert found.counts["events"] == 0
