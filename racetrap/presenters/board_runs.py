"""Runs of traces on a board: text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from racetrap.evaluation.scord.findings import Finding
from racetrap.fpga.host.scord_run import BoardRun
from racetrap.fpga.host.sigrace_run import ProgramRun
from racetrap.golden_model.trace import ThreadTrace, Trace
from racetrap.presenters.scord_races import finding_to_dict, print_findings
from racetrap.presenters.sigrace_races import print_result, result_to_dict, thread_race_to_dict

__all__ = ["gpu_run_to_dict", "print_gpu_run", "print_thread_run", "thread_run_to_dict"]


def print_gpu_run(
    console: Console, where: str, trace: Trace, findings: Sequence[Finding], run: BoardRun
) -> None:
    """Print the races of a GPU's trace, and what the board and the golden model agree in."""
    print_findings(console, findings)
    dropped = run.counters["reports_dropped"]
    lost = f", {dropped} of them without a report for lack of room on the board" if dropped else ""
    console.print(
        f"Races: {len(findings)} in {len(trace)} events{lost}; {where} and golden model agree in "
        f"all {len(run.reports)} reports ({run.transactions} transactions, {run.seconds:.1f} s).",
        markup=False,
    )


def gpu_run_to_dict(findings: Sequence[Finding], run: BoardRun) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "transactions": run.transactions, "seconds": run.seconds, "reports": len(run.reports),
        "counters": run.counters, "races": list(map(finding_to_dict, findings)),
    }  # fmt: skip


def print_thread_run(console: Console, where: str, trace: ThreadTrace, run: ProgramRun) -> None:
    """As ``print_gpu_run``, of a program with threads."""
    races = print_result(console, run.result, trace.header.locations)
    console.print(
        f"Races: {races} in {len(trace)} events; {where} and golden model agree in all "
        f"{len(run.log)} records of conflicts and {len(run.traps)} of traps ({run.events} events "
        f"of contexts, {run.messages} messages, {run.seconds:.1f} s).",
        markup=False,
    )


def thread_run_to_dict(trace: ThreadTrace, environment: str, run: ProgramRun) -> dict[str, Any]:
    """The same as plain data."""
    locations = trace.header.locations
    return {
        "environment": environment, "core_events": run.events, "messages": run.messages,
        "analysed_events": run.analysed, "seconds": run.seconds,
        "conflict_records": len(run.log), "trap_records": len(run.traps),
        **result_to_dict(run.result), "counters": run.counters,
        "races": [thread_race_to_dict(race, locations) for race in run.result.races],
    }  # fmt: skip
