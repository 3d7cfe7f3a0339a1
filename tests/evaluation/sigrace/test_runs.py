"""Jobs, and a whole program through all of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from racetrap.evaluation.sigrace import hardware, runs
from racetrap.evaluation.sigrace.execution import Execution
from racetrap.evaluation.sigrace.hardware import run_hardware
from racetrap.evaluation.sigrace.runs import Job, gather, jobs_of, run_job, run_jobs
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cpu.errors import RecordError
from racetrap.sim.cpu.random_run import random_run
from tests.support.sigrace.programs import ThreadProgram
from tests.support.sigrace.results import EXISTING, HARDWARE, INJECTED, VERDICT, result

PARAMS = SigraceParams(cores=4, threads=4)


def test_a_whole_program() -> None:
    done: list[None] = []
    jobs = jobs_of(["lu"], "tiny", PARAMS, 2, 7)
    with ThreadPoolExecutor(1) as pool:
        (lu,) = run_jobs(jobs, pool, lambda: done.append(None))
    assert len(done) == len(jobs) == 5
    assert lu.program == "lu"
    assert lu.figures.threads == 4
    assert lu.existing.exact.dynamic == lu.existing.sigrace.dynamic == 0
    assert lu.existing.statistics.messages > 100
    assert len(lu.injected) == 2
    for run in lu.injected:
        assert run.removed.startswith("crossing of barrier")
        assert run.unreal == 0
        assert run.sigrace.static <= run.exact.static
    assert lu.verdict.agrees
    assert lu.hardware is None


def test_jobs_of_several_programs() -> None:
    model = FastModel("sigrace", PARAMS, None, {})
    jobs = jobs_of(["fft", "lu"], "small", PARAMS, 3, 10, model, "tiny")
    assert len({(job.part, job.program, job.seed) for job in jobs}) == len(jobs) == 2 * 7
    assert {job.size for job in jobs if job.part != "hardware"} == {"small"}
    on_hardware = [job for job in jobs if job.part == "hardware"]
    assert all((job.size, job.model) == ("tiny", model) for job in on_hardware)
    assert [job.seed for job in jobs if job.part == "injected"] == [10, 11, 12] * 2


def test_outcomes_are_gathered_by_program() -> None:
    parts = {"figures": result().figures, "existing": EXISTING, "hardware": HARDWARE}
    parts |= {"verdict": VERDICT}
    jobs = [Job(part, name, "tiny", PARAMS) for part in parts for name in ("fft", "lu")]
    jobs += [Job("injected", "lu", "tiny", PARAMS, seed) for seed in range(3)]
    other = replace(INJECTED, unreal=1)
    outcomes = [*(each for each in parts.values() for _ in range(2)), INJECTED, None, other]
    fft, lu = gather(jobs, outcomes)
    assert (fft.program, fft.injected, fft.existing) == ("fft", (), EXISTING)
    assert (lu.injected, lu.hardware) == ((INJECTED, other), HARDWARE)


def test_an_error_ends_the_other_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def fails(job: Job) -> None:
        made.append(job.program)
        raise RecordError("Program must return 0, not 1")

    monkeypatch.setattr(runs, "run_job", fails)
    jobs = [Job("figures", str(number), "tiny", PARAMS) for number in range(200)]
    with ThreadPoolExecutor(1) as pool, pytest.raises(RecordError, match="must return 0"):
        run_jobs(jobs, pool)
    assert len(made) < 200


def test_a_job_gives_the_same_result_again() -> None:
    job = Job("injected", "lu", "tiny", PARAMS, 3)
    assert run_job(job) == run_job(job)


def racy() -> Execution:
    program = ThreadProgram(2)
    program.store(0, 0x1000)
    program.load(1, 0x1000)
    return Execution(program.trace())


def test_hardware_finds_what_the_engine_does(sigrace_tiny: FastModel[SigraceParams]) -> None:
    run = run_hardware(sigrace_tiny, racy(), 1)
    assert run.difference == ""
    assert (run.messages, run.races) == (2, 1)
    assert run.steps > run.events > 5


@pytest.mark.parametrize("seed", range(3))
def test_hardware_on_random_programs(sigrace_tiny: FastModel[SigraceParams], seed: int) -> None:
    execution = Execution(random_run(seed, threads=2, events=100))
    run = run_hardware(sigrace_tiny, execution, seed)
    assert run.difference == ""
    expected = Sigrace(sigrace_tiny.params).run(execution.trace)
    assert run.races == len(expected.races)


def test_hardware_that_differs(
    sigrace_tiny: FastModel[SigraceParams], monkeypatch: pytest.MonkeyPatch
) -> None:
    def differs(*_: object) -> None:
        raise Mismatch("Step 3 must be a push")

    monkeypatch.setattr(hardware, "run_program", differs)
    assert run_hardware(sigrace_tiny, racy(), 1).difference == "Step 3 must be a push"


def test_engine_that_differs(
    sigrace_tiny: FastModel[SigraceParams], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = hardware.detect(racy(), sigrace_tiny.params)
    other = replace(expected, races=[])
    monkeypatch.setattr(hardware, "detect", lambda *_: other)
    assert "with 0 races, not one with 1" in run_hardware(sigrace_tiny, racy(), 1).difference
