"""One mutant: the campaign's random cases until one differs, then a proof that none can."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import Any

from racetrap.evaluation.campaign.random_volume import Case, run_case
from racetrap.evaluation.mutants.equivalence import is_equivalent
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.verilator.mutants import Mutant

#: A case takes a second or so; a mutant that never lets it end is killed.
_CASE_SECONDS = 120
_MEMORY_BYTES = 8 << 30
_SHOWN_CHARACTERS = 300


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
    except Exception as error:  # a value that the comparison does not know is a difference, too
        return f"{type(error).__name__}: {error}"


def alone(say: Callable[[], str]) -> str:
    """What ``say`` gives, called in a process of its own, which a mutant may bring down or hang.

    The text is then what ended the process.
    """
    source, target = os.pipe()
    child = os.fork()
    if not child:
        os.close(source)
        resource.setrlimit(resource.RLIMIT_CPU, (_CASE_SECONDS, _CASE_SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
        with os.fdopen(target, "w", encoding="utf-8") as file:
            file.write(say()[:_SHOWN_CHARACTERS])
            file.flush()
            os._exit(0)
    os.close(target)
    with os.fdopen(source, encoding="utf-8") as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"case did not end within {_CASE_SECONDS} s of CPU time"
    return text if code == 0 else f"simulation ended by {_ending(code)}"


def _ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit status {code}"


def _cpu_seconds() -> float:
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
