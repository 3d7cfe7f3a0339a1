"""One mutant: cases of the campaign until one differs, and proofs that none can."""

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
from itertools import zip_longest
from typing import Any

from racetrap.evaluation.campaign.random_volume import Case, run_case
from racetrap.evaluation.mutants.equivalence import PROOFS, holds, is_observed
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.verilator.mutants import Mutant
from racetrap.sim.failure import Failure

#: Cases that are run before the first proof.
_SHORT_CASES = 4
#: What is said of a case in which the cycles alone are others.
_OTHER_CYCLES = "other cycles"
#: A case takes a second or so; a mutant that never lets it end is killed.
_CASE_SECONDS = 30
_MEMORY_BYTES = 8 << 30
_SHOWN_CHARACTERS = 300
#: What the comparison raises at a value that the hardware should never send.
_UNKNOWN_VALUE = (LookupError, OverflowError, ValueError)
#: Sources that a result depends on, besides the build: not the reasons of survivors.
RESULT_SOURCES = (
    "golden_model/**/*.py", "sim/cosim/**/*.py", "evaluation/*/campaign.py",
    "evaluation/campaign/*.py", "evaluation/mutants/*.py",
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
    seed : int
        Seed of the campaign.
    cases : tuple of int
        Its cases, the shortest first.
    cycles : tuple of int
        Cycles of each case without a mutant.
    proof_seconds : int
        CPU time that a proof may take; 0: none is tried.
    """

    model: FastModel[Any]
    mutant: Mutant
    seed: int
    cases: tuple[int, ...]
    cycles: tuple[int, ...]
    proof_seconds: int


@dataclass(frozen=True)
class UnchangedResult:
    """Cases of the design as it was generated.

    Parameters
    ----------
    difference : str
        The first, which is an error of ours; empty if there is none.
    cases, cycles : tuple of int
        The cases, the shortest first, and the cycles of each.
    """

    difference: str
    cases: tuple[int, ...] = ()
    cycles: tuple[int, ...] = ()


@dataclass(frozen=True)
class MutantResult:
    """Result of a mutant.

    Parameters
    ----------
    mutant : Mutant
        The mutant.
    outcome : Outcome
        What became of it.
    case : int or None
        Case that killed it.
    reason : str
        First difference, or how the proof went.
    seconds : float
        CPU time of cases and proof.
    """

    mutant: Mutant
    outcome: Outcome
    case: int | None
    reason: str
    seconds: float


def run_unchanged(run: MutantRun) -> UnchangedResult:
    """Run the cases of the design without a mutant, and sort them by their cycles."""
    cycles: dict[int, int] = {}
    for number in run.cases:
        found = run_case(Case(run.model, run.seed, number, has_coverage=False))
        if found.difference:
            return UnchangedResult(f"Case {number}: {found.difference}")
        cycles[number] = found.counts["cycles"]
    order = sorted(cycles, key=cycles.__getitem__)
    return UnchangedResult("", tuple(order), tuple(cycles[number] for number in order))


def run_mutant(run: MutantRun) -> MutantResult:
    """Find out what becomes of a mutant, by what decides about most mutants soonest."""
    started, folder, mutant = _cpu_seconds(), run.model.folder, run.mutant

    def result(outcome: Outcome, reason: str, case: int | None = None) -> MutantResult:
        return MutantResult(mutant, outcome, case, reason, _cpu_seconds() - started)

    if not is_observed(folder, mutant):
        return result(Outcome.EQUIVALENT, "no output of the design depends on the bit")
    cases = [*zip(run.cases, run.cycles, strict=True)]
    parts, proofs = (
        (cases[:_SHORT_CASES], cases[_SHORT_CASES:]),
        PROOFS if run.proof_seconds else (),
    )
    has_other_cycles = False
    for part, proof in zip_longest(parts, proofs, fillvalue=()):
        # Equal changes in several instances may undo one another.
        for selected in filter(None, (mutant.number, mutant.alone)):
            for number, cycles in part:
                case = Case(replace(run.model, mutant=selected), run.seed, number, False)
                said = alone(partial(_difference, case, cycles))
                if said not in ("", _OTHER_CYCLES):
                    return result(Outcome.KILLED, said, number)
                has_other_cycles |= bool(said)
        if proof and holds(folder, mutant, proof, run.proof_seconds):
            return result(Outcome.EQUIVALENT, proof.says)
    but = ", except in its cycles" if has_other_cycles else ""
    return result(
        Outcome.SURVIVED, f"no case differs{but}; no proof was {'found' if proofs else 'tried'}"
    )


def _difference(case: Case, cycles: int) -> str:
    try:
        found = run_case(case)
    except _UNKNOWN_VALUE as error:
        return f"{type(error).__name__}: {error}"
    is_as_long = found.difference or found.counts["cycles"] == cycles
    return found.difference if is_as_long else _OTHER_CYCLES


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
