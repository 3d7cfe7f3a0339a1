"""Advised fences against those in the correct programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.bugaroo.advised import advice_runs, advice_table, advise
from racetrap.evaluation.table import tables_to_json
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS
from racetrap.sim.gpu.workloads.registry import WORKLOADS

#: Programs that can be chosen.
CHOICES = (*PROGRAMS, *WORKLOADS)


def evaluate(
    work: LongWork, names: Sequence[str] = (), *, budget: int = 100, seed: int = 1,
) -> EvaluationResult:  # fmt: skip
    """Compare advised fences with those in the correct versions of programs.

    Parameters
    ----------
    work : LongWork
        The rows.
    names : sequence of str
        Programs; by default all.
    budget : int
        Random runs for each question, and as many systematic ones.
    seed : int
        Seed for all random choices.
    """
    questions = {
        f"{each.program} {each.variant}": each for each in advice_runs(names, budget, seed)
    }
    measure = Measure(advise, lambda each: each.verdict)
    advised = list(work.one_each("Advising", measure, questions).values())
    table = advice_table(advised)
    verdicts = dict(Counter(each.verdict.partition(":")[0] for each in advised).most_common())
    return EvaluationResult(
        name="advice", tables=[table], facts=verdicts,
        document={"runs": budget, "seed": seed, "verdicts": verdicts,
                  "tables": tables_to_json([table])},
    )  # fmt: skip
