"""All parts of the evaluation of some programs, as jobs for any number of processes.

Ref: SigRace (ISCA'09) Section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from racetrap.evaluation.sigrace.execution import Execution
from racetrap.evaluation.sigrace.figures import Figures, make_figures
from racetrap.evaluation.sigrace.hardware import HardwareRun, run_hardware
from racetrap.evaluation.sigrace.races import (
    Existing,
    Injected,
    existing_races,
    injected_races,
)
from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.verdicts import ProgramVerdict, program_verdict

__all__ = ["Job", "ProgramResult", "gather", "jobs_of", "run_job", "run_jobs"]

Outcome: TypeAlias = Figures | Existing | Injected | ProgramVerdict | HardwareRun | None


@dataclass(frozen=True)
class Job:
    """A part of the evaluation of one program.

    Parameters
    ----------
    part : str
        ``"figures"``, ``"existing"``, ``"injected"``, ``"verdict"`` or ``"hardware"``.
    program, size : str
        The program, and the size of its run; it has a thread for each core.
    params : SigraceParams
        Configuration.
    seed : int
        Chooses the synchronisation that is taken out; seed of the simulated world.
    model : FastModel or None
        Hardware to run on.
    """

    part: str
    program: str
    size: str
    params: SigraceParams
    seed: int = 0
    model: FastModel[SigraceParams] | None = None


@dataclass(frozen=True)
class ProgramResult:
    """All that is known of a program.

    Parameters
    ----------
    program : str
        The program.
    figures : Figures
        Its part of the figures.
    existing : Existing
        Races as it was recorded.
    injected : tuple of Injected
        Runs without one of its synchronisations, by ascending seed; none if it has none.
    verdict : ProgramVerdict
        Exact detector and compiler's detector.
    hardware : HardwareRun or None
        What the hardware did, if it ran.
    """

    program: str
    figures: Figures
    existing: Existing
    injected: tuple[Injected, ...]
    verdict: ProgramVerdict
    hardware: HardwareRun | None = None


def jobs_of(
    programs: Sequence[str], size: str, params: SigraceParams, runs: int, seed: int,
    model: FastModel[SigraceParams] | None = None, hardware_size: str = "tiny",
) -> list[Job]:  # fmt: skip
    """Jobs of some programs, long ones first.

    Parameters
    ----------
    programs : sequence of str
        Programs.
    size : str
        Size of their runs.
    params : SigraceParams
        Configuration.
    runs : int
        Runs with an injected race.
    seed : int
        Seed of the first of them, and of the hardware's world.
    model : FastModel or None
        Hardware to run on, too.
    hardware_size : str
        Size of the runs on it.
    """
    jobs = [Job(part, name, size, params) for part in ("existing", "figures") for name in programs]
    if model is not None:
        jobs += [Job("hardware", name, hardware_size, params, seed, model) for name in programs]
    jobs += [Job("verdict", name, size, params) for name in programs]
    jobs += [
        Job("injected", name, size, params, seed + run)
        for name in programs for run in range(runs)
    ]  # fmt: skip
    return jobs


def run_job(job: Job) -> Outcome:
    """Make one part; everything about it follows from the job and the recording.

    Raises
    ------
    RecordError, SanitizerError
        If the program cannot be recorded or judged.
    """
    return _PARTS[job.part](job)


def run_jobs(
    jobs: Sequence[Job], pool: Executor, done: Callable[[], None] = lambda: None
) -> list[ProgramResult]:
    """Results of all programs, in the order of their first jobs.

    Parameters
    ----------
    jobs : sequence of Job
        All jobs of each program.
    pool : Executor
        Makes them; after an error it is shut down.
    done : callable
        Called after each job.

    Raises
    ------
    RecordError, SanitizerError
        If a program cannot be recorded or judged.
    """
    futures = [pool.submit(run_job, job) for job in jobs]
    try:
        for future in as_completed(futures):
            future.result()
            done()
    except Exception:
        pool.shutdown(cancel_futures=True)  # else it would go on with the other jobs first
        raise
    return gather(jobs, (future.result() for future in futures))


def gather(jobs: Iterable[Job], outcomes: Iterable[Outcome]) -> list[ProgramResult]:
    """Outcomes of jobs by program; each program has all its parts."""
    parts: dict[str, dict[str, Any]] = {}
    for job, outcome in zip(jobs, outcomes, strict=True):
        mine = parts.setdefault(job.program, {"injected": ()})
        if job.part != "injected":
            mine[job.part] = outcome
        elif outcome is not None:
            mine["injected"] += (outcome,)
    return [ProgramResult(program, **mine) for program, mine in parts.items()]


# Jobs of one program follow each other, so a process needs few programs at a time.
@lru_cache(2)
def _trace(program: str, size: str, threads: int) -> ThreadTrace:
    return program_trace(program, size, threads)


@lru_cache(2)
def _known(program: str, size: str, threads: int) -> frozenset[tuple[int, int]]:
    """Static races of a program as it was recorded."""
    return HappensBefore(limit=0).run(_trace(program, size, threads)).static


def _execution(job: Job) -> Execution:
    return Execution(_trace(job.program, job.size, job.params.cores))


def _injected(job: Job) -> Injected | None:
    place = job.program, job.size, job.params.cores
    return injected_races(_trace(*place), _known(*place), job.params, job.seed)


def _hardware(job: Job) -> HardwareRun | None:
    return None if job.model is None else run_hardware(job.model, _execution(job), job.seed)


_PARTS: dict[str, Callable[[Job], Outcome]] = {
    "figures": lambda job: make_figures(_execution(job), job.params),
    "existing": lambda job: existing_races(_execution(job), job.params),
    "injected": _injected,
    "verdict": lambda job: program_verdict(job.program, job.size, job.params.cores),
    "hardware": _hardware,
}
