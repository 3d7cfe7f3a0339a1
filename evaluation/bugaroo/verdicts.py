"""Verdicts on the programs of weak memory: their results in sequentially consistent runs, and the
exact oracle's races beside what each variant lacks.

Ref: Bugaroo Section IV; PTX ISA 9.0, Section 8.9.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from racetrap.evaluation.bugaroo.published import PaperCounts
from racetrap.golden_model.events import EventKind, Space
from racetrap.sim.gpu.launch.capture import Capture
from racetrap.sim.gpu.oracle import JUDGE, run_oracle
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS, Program, Variant
from racetrap.sim.gpu.suites.weak_memory.runner import run_variant


@dataclass(frozen=True)
class VariantRun:
    """Runs of a variant; plain data, for a worker process.

    Parameters
    ----------
    program, variant : str
        What to run.
    schedules : int
        Schedules: round robin, then random ones.
    threads : int, optional
        Threads of a block, if not the default.
    """

    program: str
    variant: str
    schedules: int
    threads: int | None = None


@dataclass(frozen=True)
class Verdict:
    """What the runs of a variant show.

    Parameters
    ----------
    program, variant : Program, Variant
        What has run.
    schedules : int
        Number of runs.
    wrong : int
        Runs with a fault, or a result that is not NumPy's.
    racy : int
        Runs in which the oracle finds a race.
    races, strong : int
        Different races, and different pairs that are unordered, but strong; of all runs.
    counts : PaperCounts
        Instructions of the first run, as the paper counts them.
    """

    program: Program
    variant: Variant
    schedules: int
    wrong: int
    racy: int
    races: int
    strong: int
    counts: PaperCounts


def variant_runs(
    names: Collection[str], schedules: int, threads: int | None = None, right_only: bool = False
) -> list[VariantRun]:
    """Runs of every variant of the programs with these names; without names, of all programs.

    With ``right_only``, of the variants that lack nothing.
    """
    return [
        VariantRun(program.name, variant.name, schedules, threads)
        for program in PROGRAMS.values()
        if not names or program.name in names
        for variant in program.variants
        if not (right_only and variant.lacks)
    ]


def judge(run: VariantRun) -> Verdict:
    """Run a variant in each schedule, and judge it by the rule whose verdict counts."""
    program = PROGRAMS[run.program]
    variant = program.variant(run.variant)
    races: set[object] = set()
    strong: set[object] = set()
    wrong = racy = 0
    for schedule in range(run.schedules):
        captured = run_variant(program, variant, schedule, threads=run.threads)
        if not schedule:
            counts = _counts(captured)
        found = run_oracle(captured.trace, JUDGE)
        wrong += bool(captured.fault or captured.differences)
        racy += bool(found.races)
        races |= {race.key for race in found.races}
        strong |= {race.key for race in found.unordered_strong}
    return Verdict(program, variant, run.schedules, wrong, racy, len(races), len(strong), counts)


def _counts(captured: Capture) -> PaperCounts:
    """Instructions, fences and stores of all threads."""
    events = captured.trace.events
    lanes = np.bitwise_count(events["mask"]) if len(events) else np.zeros(0, np.uint8)
    is_fence, is_store = events["kind"] == EventKind.FENCE, events["kind"] == EventKind.STORE
    is_shared = events["space"] == Space.SHARED
    return PaperCounts(
        captured.stats.thread_instructions,
        int(lanes[is_fence].sum()),
        len(np.unique(events["pc"][is_fence])),
        int(lanes[is_store & is_shared].sum()),
        int(lanes[is_store & ~is_shared].sum()),
    )


def problems(verdicts: Collection[Verdict]) -> list[str]:
    """Deviations from the suite's statements, in sentences."""
    found = []
    for each in verdicts:
        name = each.program.kernel(each.variant)
        if each.wrong:
            found.append(
                f"Result of {name} must be NumPy's, not different in {each.wrong} of "
                f"{each.schedules} schedules"
            )
        if bool(each.racy) != each.variant.is_racy:
            stated = "a race" if each.variant.is_racy else "no race"
            found.append(
                f"Verdict on {name} must be {stated}, not one in {each.racy} of "
                f"{each.schedules} schedules"
            )
    return found
