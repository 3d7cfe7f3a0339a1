"""Table 1 and Figures 9 and 10 of the BARRACUDA paper."""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.barracuda.measure import RULES, BenchmarkRun, Measured, measure
from racetrap.evaluation.barracuda.small_kernels import KernelVerdict, judge
from racetrap.evaluation.barracuda.tables import make_tables, problems_of
from racetrap.evaluation.barracuda.witnesses import WitnessRun
from racetrap.evaluation.scord.programs import Schedule
from racetrap.evaluation.table import tables_to_json
from racetrap.presenters.barracuda_evaluation import page_of
from racetrap.sim.gpu.suites.barracuda.benchmarks import BENCHMARKS
from racetrap.sim.gpu.suites.concurrency.cases import CASES

#: What can be chosen: the benchmarks, and all small kernels together.
SMALL_KERNELS = "small-kernels"
CHOICES = (*BENCHMARKS, SMALL_KERNELS)
#: Schedules of each benchmark: round robin, greedy-then-oldest, in order, a random one.
_SCHEDULES = 4
#: Further random schedules of a small kernel, and its runs on each weak memory.
_KERNEL_SCHEDULES, _WEAK_RUNS = 24, 20


def evaluate(work: LongWork, names: Sequence[str] = (), *, seed: int = 1) -> EvaluationResult:
    """Reproduce Table 1 and Figures 9 and 10 of the BARRACUDA paper.

    Parameters
    ----------
    work : LongWork
        The rows.
    names : sequence of str
        Benchmarks, and ``small-kernels``; by default all.
    seed : int
        Seed for all random choices.
    """
    own = tuple(Schedule(number, seed) for number in range(_SCHEDULES))
    runs = {name: BenchmarkRun(name, own) for name in BENCHMARKS if not names or name in names}
    timed = Measure(measure, _measured, is_timing=True)
    measured = [*work.one_each("Running", timed, runs).values()]
    small = {
        name: WitnessRun(case, _KERNEL_SCHEDULES, _WEAK_RUNS, seed)
        for name, case in CASES.items() if not names or SMALL_KERNELS in names
    }  # fmt: skip
    kernels = [*work.one_each("Looking for witnesses", Measure(judge, _judged), small).values()]
    tables = make_tables(measured, kernels)
    problems = problems_of(measured, kernels)
    facts: dict[str, object] = {
        "schedules": _SCHEDULES, "seed": seed, "benchmarks": len(measured),
        "small kernels": len(kernels),
    }  # fmt: skip
    document = {
        "schedules": _SCHEDULES, "seed": seed, "benchmarks": len(measured),
        "small_kernels": len(kernels), "tables": tables_to_json(tables), "problems": problems,
    }  # fmt: skip
    return EvaluationResult(
        name="barracuda", tables=tables, facts=facts, document=document, problems=problems,
        make_page=lambda command: page_of(
            measured, tables, problems, facts | work.remark, command
        ),
    )  # fmt: skip


def _measured(found: Measured) -> str:
    races = ", ".join(f"{rule} {found.races_of(rule)}" for rule in RULES)
    return f"{found.events} events; races by {races}"


def _judged(verdict: KernelVerdict) -> str:
    return f"witnesses: {', '.join(verdict.witnesses) or 'none'}"
