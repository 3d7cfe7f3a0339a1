"""Evaluations: the papers' tables from our own runs."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from inspect import signature
from types import MappingProxyType
from typing import Any

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork
from racetrap.commands.shared.terminal import input_errors, kept_console
from racetrap.golden_model.checks import unknown_name

#: What is evaluated, and what that gives.
EVALUATIONS = MappingProxyType({
    "advice": "Compare advised fences with those in the programs' correct versions.",
    "barracuda": "Table 1 and Figures 9 and 10 of the BARRACUDA paper.",
    "bugaroo": "Tables II, III and IV of the Bugaroo paper.",
    "noncoherent": "Figures and Table 5.1 of the thesis on non-coherent accelerators.",
    "overhead": "Figures 8 to 11 of the ScoRD paper: what detection costs in time.",
    "policies": "Races found by access buffers that drop or sample accesses.",
    "rules": "Verdicts of the exact analysis under each of its rules.",
    "scord": "Tables VI and VII of the ScoRD paper.",
    "sigrace": "Figures 7 to 10 and Table 7 of the SigRace paper.",
    "vortex": "Races of the ScoR micro-benchmarks on an open GPU's Verilog.",
})  # fmt: skip


def evaluate(
    name: str, *programs: str, jobs: int = 2, work: LongWork | None = None, **options: Any
) -> EvaluationResult:
    """Reproduce a paper's tables on this machine.

    Rows are kept: after an interruption the next call continues.

    Parameters
    ----------
    name : str
        The evaluation: ``advice``, ``barracuda``, ``bugaroo``, ``noncoherent``, ``overhead``,
        ``policies``, ``rules``, ``scord``, ``sigrace`` or ``vortex``.
    programs : str
        Programs to evaluate; by default all.  ``sigrace`` also takes files with recordings.
    jobs : int
        Worker processes.
    work : LongWork, optional
        The rows of a command.
    options : object
        Options of the command ``racetrap evaluate NAME``, such as ``schedules`` and ``seed``.

    Raises
    ------
    ValueError
        If there is no such evaluation or program, or the evaluation has no such option.
    Failure
        If a tool fails.
    """
    with input_errors():
        if name not in EVALUATIONS:
            raise ValueError(unknown_name("evaluation", name, EVALUATIONS))
        own = import_module(f"racetrap.calls.evaluate_{name}")
        for program in programs if own.CHOICES else ():
            if program not in own.CHOICES:
                raise ValueError(unknown_name("program", program, own.CHOICES))
        known = [
            each.name for each in signature(own.evaluate).parameters.values()
            if each.kind == each.KEYWORD_ONLY
        ]  # fmt: skip
        for option in options:
            if option not in known:
                raise ValueError(unknown_name(f"option of {name}", option, known))
    work = work or LongWork(jobs, console=kept_console())
    result: EvaluationResult = own.evaluate(work, programs, **options)
    return replace(result, document={**work.progress, **result.document})
