"""One mutant: cases of the campaign until one differs, or proofs until one says that none can."""

from __future__ import annotations

import os
import resource
import signal
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from racetrap.evaluation.campaign.random_volume import Case, run_case
from racetrap.evaluation.mutants.equivalence import Proof, holds
from racetrap.evaluation.processes import cpu_seconds
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.verilator.mutants import Mutant
from racetrap.sim.failure import Failure

#: What is said of a case in which the digest alone is another, and of a mutant that this kills.
_OTHER_DIGEST, BY_DIGEST = "other digest", "a case has another digest"
#: A case takes a second or so; a mutant that never lets it end is killed.
_CASE_SECONDS = 30
_MEMORY_BYTES = 8 << 30
_SHOWN_CHARACTERS = 300
#: What comparison and driver raise at a value that the hardware should never send.
_UNKNOWN_VALUE = (LookupError, OverflowError, RuntimeError, ValueError)
#: Sources that the result of cases depends on, besides the build, and that of proofs.
CASE_SOURCES = (
    "golden_model/**/*.py", "sim/cosim/**/*.py", "evaluation/*/campaign.py",
    "evaluation/campaign/*.py", "evaluation/mutants/run.py",
)  # fmt: skip
PROOF_SOURCES = tuple(
    f"evaluation/mutants/{name}.py" for name in ("constants", "equivalence", "observed")
)
#: Exit status of a process whose error is ours, not the mutant's.
_DEFECT = 70


class Outcome(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    EQUIVALENT = "equivalent"
    SURVIVED = "survived"


@dataclass(frozen=True)
class MutantRun:
    """Cases that a mutant is run in.

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
    digests : tuple of int
        Digest of each case without a mutant.
    """

    model: FastModel[Any]
    mutant: Mutant
    seed: int
    cases: tuple[int, ...]
    digests: tuple[int, ...]


@dataclass(frozen=True)
class BlockRun:
    """A mutant of a build, apart from the system around its block.

    Parameters
    ----------
    folder : Path
        Folder of the build with all mutants.
    design : str
        Hash of the design in it.
    mutant : Mutant
        Which one.
    """

    folder: Path
    design: str
    mutant: Mutant


@dataclass(frozen=True)
class ProofRun(BlockRun):
    """Proofs that are tried of a mutant.

    Parameters
    ----------
    proofs : tuple of Proof
        The proofs, in order.
    seconds : int
        CPU time that each may take.
    """

    proofs: tuple[Proof, ...]
    seconds: int


@dataclass(frozen=True)
class Finding:
    """What cases or proofs have found out about a mutant.

    Parameters
    ----------
    outcome : Outcome
        What became of it; ``SURVIVED`` if they have not decided.
    case : int or None
        Case that killed it.
    reason : str
        First difference, or how the proof went; of a mutant that is not decided, whether its cases
        had another digest.
    seconds : float
        CPU time.
    """

    outcome: Outcome
    case: int | None = None
    reason: str = ""
    seconds: float = 0


@dataclass(frozen=True)
class UnchangedResult:
    """Cases of the design as it was generated.

    Parameters
    ----------
    difference : str
        The first, which is an error of ours; empty if there is none.
    cases, digests : tuple of int
        The cases, the shortest first, and the digest of each.
    """

    difference: str
    cases: tuple[int, ...] = ()
    digests: tuple[int, ...] = ()


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
        Case that killed it, unless its digest alone did.
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
    digests: dict[int, int] = {}
    for number in run.cases:
        found = run_case(Case(run.model, run.seed, number, has_coverage=False))
        if found.difference:
            return UnchangedResult(f"Case {number}: {found.difference}")
        cycles[number], digests[number] = found.counts["cycles"], found.digest
    order = sorted(cycles, key=cycles.__getitem__)
    return UnchangedResult("", tuple(order), tuple(digests[number] for number in order))


def run_cases(run: MutantRun) -> Finding:
    """Run cases of a mutant until one differs."""
    started, reason = cpu_seconds(), ""
    for selected in run.mutant.selections:
        for number, digest in zip(run.cases, run.digests, strict=True):
            case = Case(replace(run.model, mutant=selected), run.seed, number, False)
            said = alone(partial(_difference, case, digest))
            if said == _OTHER_DIGEST:
                reason = said
            elif said:
                return Finding(Outcome.KILLED, number, said, cpu_seconds() - started)
    return Finding(Outcome.SURVIVED, None, reason, cpu_seconds() - started)


def try_proofs(run: ProofRun) -> Finding:
    """Try proofs of a mutant until one holds."""
    started = cpu_seconds()
    for proof in run.proofs:
        if holds(run.folder, run.mutant, proof, run.seconds):
            return Finding(Outcome.EQUIVALENT, None, proof.says, cpu_seconds() - started)
    return Finding(Outcome.SURVIVED, seconds=cpu_seconds() - started)


def result_of(mutant: Mutant, findings: Sequence[Finding], with_digests: bool) -> MutantResult:
    """What became of a mutant, by all that was found in turn.

    Another digest alone kills it only ``with_digests``, if those of the design are kept.
    """
    seconds, last = sum(each.seconds for each in findings), findings[-1]
    if last.outcome is not Outcome.SURVIVED:
        return MutantResult(mutant, last.outcome, last.case, last.reason, seconds)
    has_other_digest = _OTHER_DIGEST in (each.reason for each in findings)
    if has_other_digest and with_digests:
        return MutantResult(mutant, Outcome.KILLED, None, BY_DIGEST, seconds)
    but = ", except in its digest" if has_other_digest else ""
    reason = f"no case differs{but}; no proof was found"
    return MutantResult(mutant, Outcome.SURVIVED, None, reason, seconds)


def _difference(case: Case, digest: int) -> str:
    try:
        found = run_case(case)
    except _UNKNOWN_VALUE as error:
        return f"{type(error).__name__}: {error}"
    is_equal = found.difference or found.digest == digest
    return found.difference if is_equal else _OTHER_DIGEST


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
