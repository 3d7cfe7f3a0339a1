"""Evaluation of the cost of ScoRD in time."""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.calls.results import EvaluationResult
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.scord.overhead import (
    Executed,
    OverheadRun,
    Replayed,
    execute,
    executions,
    overhead,
    replay,
)
from racetrap.evaluation.scord.overhead_tables import make_tables, problems_of
from racetrap.evaluation.table import tables_to_json
from racetrap.evaluation.vortex.timing_model import (
    OnBoth,
    run_on_both,
    runs_on_both,
    timing_tables,
    vortex_missing,
)
from racetrap.sim.gpu.workloads.registry import WORKLOADS

#: Programs that can be chosen.
CHOICES = tuple(WORKLOADS)


def evaluate(
    work: LongWork,
    workloads: Sequence[str] = (),
    *,
    size: str = "tiny",
    seed: int = 1,
    rtl: bool = False,
) -> EvaluationResult:
    """Reproduce Figures 8 to 11 of the ScoRD paper: cycles and DRAM accesses of ScoRD.

    Parameters
    ----------
    work : LongWork
        The rows.
    workloads : sequence of str
        Applications; by default all.
    size : str
        Size of their inputs.
    seed : int
        Seed of their inputs.
    rtl : bool
        Whether the Verilated hardware of presets runs beside the GPU, too, and applications on
        Vortex if that is installed.
    """
    runs = {
        name: OverheadRun(name, size, seed, rtl)
        for name in CHOICES
        if not workloads or name in workloads
    }
    replayed = work.one_each("Replaying", Measure(replay, _replayed), runs)
    executed = work.rows("Executing", Measure(execute, _executed), {
        name: executions(runs[name], one.region) for name, one in replayed.items()
    })  # fmt: skip
    found = [overhead(runs[name], replayed[name], counts) for name, counts in executed.items()]
    missing = vortex_missing() if rtl else None
    on_vortex = work.rows(
        "Running on Vortex", Measure(run_on_both, _both), runs_on_both(runs)
    ) if missing == "" else {}  # fmt: skip
    tables = [*make_tables(found), *timing_tables(on_vortex)]
    events = sum(each.events * len(each.counts) for each in found)
    facts = {
        "size": size,
        "seed": seed,
        "programs": len(found),
        "events": sum(each.events for each in found),
        "cpu_seconds": round(sum(each.all_seconds for each in found), 1),
        "events_per_second": round(events / max(1e-9, sum(each.seconds for each in found))),
        "not_on_vortex": missing or None,
    }
    return EvaluationResult(
        name="overhead", tables=tables, facts=facts,
        document={**facts, "tables": tables_to_json(tables), "problems": problems_of(found)},
        problems=problems_of(found),
    )  # fmt: skip


def _both(*runs: OnBoth) -> str:
    return "; ".join(
        "cycles on Vortex {:.2f}, by the model {:.2f}".format(*run.slowdowns) for run in runs
    )


def _replayed(replayed: Replayed) -> str:
    found = replayed.found
    return (
        f"{found.events} events, cycles of the base design {found.slowdown('base design'):.2f}, "
        f"with caching {found.slowdown():.2f}"
    )


def _executed(*found: Executed) -> str:
    return f"{sum(each.counts.cycles for each in found)} cycles in {len(found)} executions"
