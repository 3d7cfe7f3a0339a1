"""One mutant: the campaign's random cases until one differs, then a proof that none can."""

from __future__ import annotations

import os
import resource
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Any

from racetrap.evaluation.campaign.random_volume import Case, run_case
from racetrap.evaluation.mutants.equivalence import is_equivalent
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.verilator.mutants import Mutant
from racetrap.sim.failure import Failure

#: A case takes a second or so; a mutant that never lets it end is killed.
_CASE_SECONDS = 30
_MEMORY_BYTES = 8 << 30
_SHOWN_CHARACTERS = 300
#: What the comparison raises at a value that the hardware should never send.
_UNKNOWN_VALUE = (LookupError, OverflowError, ValueError)
#: Sources that a result depends on, besides the build: not the reasons of survivors.
RESULT_SOURCES = (
    "golden_model/**/*.py", "sim/**/*.py", "evaluation/campaign/*.py", "evaluation/mutants/*.py",
)  # fmt: skip
#: Exit status of a process whose error is ours, not the mutant's.
_DEFECT = 70


class Outcome(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    EQUIVALENT = "equivalent"
    SURVIVED = "survived"


@dataclass(frozen=True)
class MutantRun:
    """A mutant to run.

    Parameters
    ----------
    model : FastModel
        Build with all mutants.
    mutant : Mutant
        Which one.
    seed, cases : int
        Seed of the campaign, and its cases that are run at most.
    proof_seconds : int
        CPU time that a proof may take; 0: none is tried.
    """

    model: FastModel[Any]
    mutant: Mutant
    seed: int
    cases: int
    proof_seconds: int


@dataclass(frozen=True)
class MutantResult:
    """Result of a mutant.

    Parameters
    ----------
    mutant : Mutant
        The mutant.
    outcome : Outcome
        What became of it.
    case : int
        Case that killed it, or the number of cases that it survived.
    reason : str
        First difference, or how the proof went.
    seconds : float
        CPU time of cases and proof.
    """

    mutant: Mutant
    outcome: Outcome
    case: int
    reason: str
    seconds: float


def run_mutant(run: MutantRun) -> MutantResult:
    """Run cases until the mutant is killed; try to prove the equivalence of a survivor."""
    started = _cpu_seconds()

    def result(outcome: Outcome, case: int, reason: str) -> MutantResult:
        return MutantResult(run.mutant, outcome, case, reason, _cpu_seconds() - started)

    model = replace(run.model, mutant=run.mutant.number)
    # The first case is the longest of some detectors: it comes last.
    for number in (*range(1, run.cases), 0):
        case = Case(model, run.seed, number, has_coverage=False)
        if difference := alone(partial(_difference, case)):
            return result(Outcome.KILLED, number, difference)
    if not (run.mutant.number and run.proof_seconds):
        return result(Outcome.SURVIVED, run.cases, "no case differs")
    if proof := is_equivalent(run.model.folder, run.mutant, run.proof_seconds):
        return result(Outcome.EQUIVALENT, run.cases, proof)
    return result(Outcome.SURVIVED, run.cases, "no case differs, and no proof was found")


def _difference(case: Case) -> str:
    try:
        return run_case(case).difference
    except _UNKNOWN_VALUE as error:
        return f"{type(error).__name__}: {error}"


def alone(say: Callable[[], str]) -> str:
    """What ``say`` gives, called in a process of its own, which a mutant may bring down or hang.

    The text is then what ended the process.

    Raises
    ------
    Failure
        If ``say`` raises an error, which the process has printed.
    """
    source, target = os.pipe()
    child = os.fork()
    if not child:
        os.close(source)
        resource.setrlimit(resource.RLIMIT_CPU, (_CASE_SECONDS, _CASE_SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        try:
            os.write(target, say()[:_SHOWN_CHARACTERS].encode())
        except BaseException:
            traceback.print_exc()
            os._exit(_DEFECT)
        os._exit(0)
    os.close(target)
    with os.fdopen(source, encoding="utf-8") as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"case did not end within {_CASE_SECONDS} s of CPU time"
    if code == _DEFECT:
        raise Failure("Comparison of a mutant ended with the error above")
    if code > 0:
        return f"simulation ended with exit status {code}"
    return text if code == 0 else f"simulation ended by {signal.Signals(-code).name}"


def _cpu_seconds() -> float:
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
