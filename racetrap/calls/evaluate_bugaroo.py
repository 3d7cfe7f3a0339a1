"""Tables of the Bugaroo paper."""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.bugaroo.exposures import Exposure, ExposureRun, expose, exposed_wrongly
from racetrap.evaluation.bugaroo.tables import make_tables
from racetrap.evaluation.bugaroo.verdicts import Verdict, judge, problems, variant_runs
from racetrap.evaluation.table import tables_to_json
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS

#: Programs that can be chosen.
CHOICES = tuple(PROGRAMS)


def evaluate(
    work: LongWork, names: Sequence[str] = (), *, race_free: bool = False, schedules: int = 20,
    budget: int = 100, seed: int = 1,
) -> EvaluationResult:  # fmt: skip
    """Reproduce Tables II, III and IV of the Bugaroo paper.

    Parameters
    ----------
    work : LongWork
        The rows.
    names : sequence of str
        Programs; by default all.
    race_free : bool
        Whether only the variants run that lack no fence.
    schedules : int
        Schedules of each variant.
    budget : int
        Runs of each variant under each weak memory model.
    seed : int
        Seed for all random choices.
    """
    variants = {
        f"{each.program} {each.variant}": each
        for each in variant_runs(names, schedules, right_only=race_free)
    }
    verdicts = [*work.one_each("Judging", Measure(judge, _judged), variants).values()]
    stressed = {
        f"{name} under weak memory": ExposureRun(each.program, each.variant, budget, seed)
        for name, each in variants.items()
        if budget
    }
    exposures = [*work.one_each("Stressing", Measure(expose, _exposed), stressed).values()]
    tables = make_tables(verdicts, exposures)
    wrong = [*problems(verdicts), *exposed_wrongly(exposures)]
    facts = {
        "schedules": schedules, "variants": len(variants), "runs": budget,
        "seed": seed,
    }  # fmt: skip
    document = {
        **facts, "tables": tables_to_json(tables), "problems": wrong,
    }  # fmt: skip
    return EvaluationResult(
        name="bugaroo", tables=tables, facts=facts, document=document,
        problems=wrong,
    )  # fmt: skip


def _judged(verdict: Verdict) -> str:
    return f"wrong {verdict.wrong}, racy {verdict.racy} of {verdict.schedules}"


def _exposed(exposure: Exposure) -> str:
    return f"fails in {exposure.views} of {exposure.runs} runs by views"
