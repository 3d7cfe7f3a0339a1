"""Figures and table of the thesis on non-coherent accelerators."""

from __future__ import annotations

import time
from collections.abc import Sequence

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.noncoherent.fixpoint import TINY_MACHINES, reach_fixpoint
from racetrap.evaluation.noncoherent.live import LiveCase, LivePart, run_live
from racetrap.evaluation.noncoherent.monitor_cycles import CyclesPart, measure_cycles
from racetrap.evaluation.noncoherent.monitor_quality import (
    MonitorQuality,
    ProgramQuality,
    merged_quality,
    program_quality,
    random_quality,
)
from racetrap.evaluation.noncoherent.programs import ProgramCase, ProgramPart, run_program
from racetrap.evaluation.noncoherent.random_traces import RandomResult, merged, parts_of, run_part
from racetrap.evaluation.noncoherent.runtimes import measure_analysis
from racetrap.evaluation.noncoherent.tables import Evaluation, make_tables, problems
from racetrap.presenters.noncoherent_evaluation import page_of, to_json
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS

#: Entries of a set of the bus monitor on programs.
_ENTRIES = (4, 8)


#: Programs that can be chosen.
CHOICES = tuple(ACCELERATOR_PROGRAMS)


def evaluate(
    work: LongWork, programs: Sequence[str] = (), *, schedules: int = 100, budget: int = 10_000,
    also: Sequence[str] = (), seed: int = 1,
) -> EvaluationResult:  # fmt: skip
    """Reproduce figures and Table 5.1 of the thesis on non-coherent accelerators.

    Parameters
    ----------
    work : LongWork
        The rows.
    programs : sequence of str
        Programs; by default all.
    schedules : int
        Runs of each case of a program under random timings.
    budget : int
        Random traces to compare with the exhaustive machine.
    also : sequence of str
        Further measurements: ``fixpoint``, ``original-size``, ``monitor``, ``cycles``,
        ``live``.
    seed : int
        Seed for all random choices.
    """
    names = [name for name in ACCELERATOR_PROGRAMS if not programs or name in programs]
    started = time.perf_counter()
    cases = work.one_each(
        "Programs", Measure(run_program, _cases_words),
        {name: ProgramPart(name, schedules, seed) for name in names},
    )  # fmt: skip
    random = work.one_each(
        "Random traces", Measure(run_part, _random_words),
        {f"random traces {each.first} to {each.last}": each for each in parts_of(seed, budget)},
    )  # fmt: skip
    found = Evaluation([one for some in cases.values() for one in some], merged(random.values()))
    if "fixpoint" in also:
        visited = work.one_each(
            "Tiny machines", Measure(reach_fixpoint, lambda one: f"{one.states} states"),
            {f"tiny machine {number}": each for number, each in enumerate(TINY_MACHINES, 1)},
        )  # fmt: skip
        found.fixpoints = list(visited.values())
    if "original-size" in also:
        times = work.one_each(
            "Original sizes", Measure(measure_analysis, lambda one: f"{one.operations} operations"),
            {f"{name} at its original size": name for name in names
             if ACCELERATOR_PROGRAMS[name].thesis_name}, jobs=1,
        )  # fmt: skip
        found.times = list(times.values())
    if "monitor" in also:
        watched = {f"{name} by the bus monitor": ProgramQuality(name, _ENTRIES) for name in names}
        qualities = work.one_each(
            "Bus monitor", Measure(program_quality, lambda each: _monitor_words(*each.values())),
            watched,
        )  # fmt: skip
        found.monitors = {watched[label].program: each for label, each in qualities.items()}
        random_parts = enumerate(parts_of(seed, budget), 1)
        random_qualities = work.one_each(
            "Bus monitor", Measure(random_quality, _monitor_words),
            {f"random traces by the bus monitor, part {number}": part
             for number, part in random_parts},
        )  # fmt: skip
        found.random_monitor = merged_quality(random_qualities.values())
    if "cycles" in also:
        played = work.one_each(
            "Generated monitor", Measure(measure_cycles, lambda one: f"{one.cycles} cycles"),
            {f"{name} on the generated monitor": CyclesPart(name, seed) for name in names},
        )  # fmt: skip
        found.cycles = list(played.values())
    if "live" in also:
        live = work.one_each(
            "Live system", Measure(run_live, _live_words),
            {f"{name} on the live system": LivePart(name, schedules, seed) for name in names},
        )  # fmt: skip
        found.live = [one for some in live.values() for one in some]
    facts: dict[str, object] = {
        "seed": seed,
        "programs": len(cases),
        "programs with something left out": len(found.cases) - len(cases),
        "timings of each": schedules,
        "random traces": found.random.traces,
        "seconds": round(time.perf_counter() - started),
    }
    tables = make_tables(found)
    return EvaluationResult(
        name="noncoherent", tables=tables, facts=facts,
        document={**facts, **to_json(found, tables)}, problems=problems(found),
        make_page=lambda command: page_of(found, tables, facts | work.remark, command),
    )  # fmt: skip


def _cases_words(cases: Sequence[ProgramCase]) -> str:
    harmful = sum(case.is_harmful for case in cases)
    return f"{len(cases)} cases, harmful {harmful}, reported {sum(c.is_reported for c in cases)}"


def _live_words(cases: Sequence[LiveCase]) -> str:
    reported = [case for case in cases if case.is_reported]
    return f"reported {len(reported)}, never wrong {sum(not case.is_wrong for case in reported)}"


def _random_words(result: RandomResult) -> str:
    return f"racy {result.racy}, different {len(result.differing)}"


def _monitor_words(*found: MonitorQuality) -> str:
    return f"lost {sum(len(one.lost) for one in found)} of {sum(one.races for one in found)} races"
