"""Tables of the races that detectors report beside Vortex.

Ref: ScoRD (ISCA'20) Sections III and V, Table VI.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from racetrap.evaluation.table import Table
from racetrap.evaluation.vortex.programs import Program, ProgramFound

#: Presets beside the cores, and whether their verdict is the suite's; else the exact analysis's.
DETECTORS = {"scord-nocache": True, "causality-nocache": False}
#: Memories of each micro-benchmark beside each detector, and of each build of an application.
MICRO_SEEDS, APPLICATION_SEEDS = range(1, 21), range(1, 6)
#: Results of all runs, by program and preset.
Found = Mapping[tuple[Program, str], Sequence[ProgramFound]]


def detection_tables(found: Found) -> list[Table]:
    """Tables of all runs."""
    programs = list(dict.fromkeys(program for program, _ in found))
    presets = [preset for preset in DETECTORS if preset in {preset for _, preset in found}]
    sums = []
    for preset in presets:
        runs = [run for (_, each), some in found.items() if each == preset for run in some]
        sums.append((
            preset, len(runs), sum(run.is_racy and not run.is_reported for run in runs),
            sum(run.is_reported and not run.is_racy for run in runs),
            sum(run.instructions for run in runs), sum(run.transactions for run in runs),
            sum(run.cycles for run in runs),
        ))  # fmt: skip
    return [
        Table(
            "programs", "Runs of the ScoR suite in which a race is reported",
            "Each seed draws the latency of memory and how much it varies; every other run is with "
            "L1. Exact: runs whose trace is racy by PTX's memory model. Wrong: runs with a wrong "
            "result; micro-benchmarks have none.",
            ("program", "suite", *presets, "exact", "wrong"),
            tuple(_row(program, presets, found) for program in programs),
        ),
        Table(
            "sums", "Sums over all runs",
            "Runs that are racy by the exact analysis and not reported, and the reverse; amounts "
            "of which hardware and golden models were compared, without a difference.",
            ("detector", "runs", "missed", "besides", "instructions", "transactions", "cycles"),
            tuple(sums),
        ),
    ]  # fmt: skip


def _row(program: Program, presets: Sequence[str], found: Found) -> tuple[str | None, ...]:
    runs = {preset: found.get((program, preset), ()) for preset in presets}
    every = [run for some in runs.values() for run in some]
    reported = [_share(run.is_reported for run in some) for some in runs.values()]
    wrong = None if program.is_micro else _share(run.is_wrong for run in every)
    suite = "racy" if program.is_racy else "race-free"
    return str(program), suite, *reported, _share(run.is_racy for run in every), wrong


def _share(values: Iterable[bool]) -> str | None:
    given = list(values)
    return f"{sum(given)} of {len(given)}" if given else None


def problems_of(found: Found) -> list[str]:
    """Verdicts that are not those of the method, and wrong results, in sentences.

    ScoRD's verdicts are the suite's; causality's those of the exact analysis on the same run.  The
    race of a switch may be in some runs only; the result of an application without one is right.
    """
    problems = []
    for (program, preset), runs in found.items():
        for number, run in enumerate(runs, 1):
            due = program.is_racy if DETECTORS[preset] else run.is_racy
            may_miss = due and not program.is_micro
            if run.is_reported != due and not may_miss:
                must = "be reported" if due else "not be reported"
                problems.append(f"{program} must {must} by {preset} in run {number}")
            if run.is_wrong and not program.is_racy:
                problems.append(f"{program} must give its result beside {preset} in run {number}")
        if program.is_racy and DETECTORS[preset] and not any(run.is_reported for run in runs):
            problems.append(f"{program} must be reported by {preset} in some run")
    return problems
