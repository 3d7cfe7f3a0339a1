"""Suites of programs on the hardware, under many schedules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict
from typing import Any

from rich.console import Console

from racetrap.evaluation.campaign.micro_benchmarks import SuiteResult, run_micro_benchmark
from racetrap.golden_model.scord.params import ScordParams
from racetrap.presenters.output import print_table
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS

__all__ = ["report_suite", "run_suite"]


def run_suite(
    model: FastModel[ScordParams],
    schedules: int,
    seed: int,
    pool: Executor,
    done: Callable[[int], None],
) -> list[SuiteResult]:
    """Results of every micro-benchmark; ``done`` is told of each."""
    futures = [
        pool.submit(run_micro_benchmark, model, name, schedules=schedules, seed=seed)
        for name in MICRO_BENCHMARKS
    ]
    for future in futures:
        future.add_done_callback(lambda _: done(1))
    return [future.result() for future in futures]


def report_suite(
    console: Console, preset: str, results: Sequence[SuiteResult]
) -> tuple[dict[str, Any], bool]:
    """Print the verdicts; the same for JSON, and whether any is wrong."""
    rows = [
        [result.name, "race" if result.racy else "none", result.runs, result.right,
         result.cycles, result.difference]
        for result in results
    ]  # fmt: skip
    columns = ["micro-benchmark", "expected", "runs", "right", "cycles", "difference"]
    print_table(console, f"ScoR micro-benchmarks on {preset}", columns, rows)
    right = sum(result.runs == result.right for result in results)
    console.print(f"{right} of {len(results)} are right under every schedule.")
    summary = {"preset": preset, "suite": [asdict(result) for result in results]}
    return summary, right != len(results)
