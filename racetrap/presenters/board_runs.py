"""Runs of traces on a board: text and JSON."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from racetrap.fpga.gpu.run import BoardRun
from racetrap.fpga.noncoherent.run import OperationRun
from racetrap.fpga.sigrace.run import ProgramRun
from racetrap.golden_model.happens_before.race import ThreadRace
from racetrap.golden_model.noncoherent.races import MonitorRace
from racetrap.golden_model.trace import NoncoherentTrace, ThreadTrace, Trace
from racetrap.presenters.gpu_races import print_kinds
from racetrap.presenters.race_choice import RaceList
from racetrap.presenters.sigrace_races import print_result, race_count, result_to_dict
from racetrap.verdict.gpu.findings import Finding


def print_gpu_run(
    console: Console, where: str, trace: Trace, races: RaceList[Finding], run: BoardRun
) -> None:
    """Print the races of a GPU's trace, and the amounts in which board and golden model agree."""
    print_kinds(console, races)
    dropped = run.counters["reports_dropped"]
    lost = f", {dropped} of them without a report for lack of room on the board" if dropped else ""
    console.print(
        f"Races: {races.count} in {len(trace)} events{lost}; {where} and golden model agree in "
        f"all {len(run.reports)} reports ({run.transactions} transactions, {run.seconds:.1f} s).",
        markup=False,
    )


def gpu_run_to_dict(races: RaceList[Finding], run: BoardRun) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "transactions": run.transactions, "seconds": run.seconds, "reports": len(run.reports),
        "counters": run.counters, "races": races.json,
    }  # fmt: skip


def print_accelerator_run(
    console: Console, where: str, trace: NoncoherentTrace, races: RaceList[MonitorRace],
    run: OperationRun,
) -> None:  # fmt: skip
    """As ``print_gpu_run``, of a CPU and its accelerators."""
    races.finish()
    dropped = run.counters["reports_dropped"]
    lost = f", {dropped} reports dropped for lack of room on the board" if dropped else ""
    console.print(
        f"Races: {races.count} in {len(trace)} operations{lost}; {where} and golden model agree in "
        f"all {run.reports} reports ({len(run.steps)} rows, {run.seconds:.1f} s).",
        markup=False,
    )


def accelerator_run_to_dict(races: RaceList[MonitorRace], run: OperationRun) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "rows": len(run.steps), "seconds": run.seconds, "reports": run.reports,
        "counters": run.counters, "races": races.json,
    }  # fmt: skip


def print_thread_run(
    console: Console, where: str, trace: ThreadTrace, races: RaceList[ThreadRace], run: ProgramRun
) -> None:
    """As ``print_gpu_run``, of a program with threads."""
    print_result(console, races, run.result, trace.header)
    console.print(
        f"Races: {race_count(run.result.races)} in {len(trace)} events; {where} and golden model "
        f"agree in all {len(run.log)} records of conflicts and {len(run.traps)} of traps "
        f"({run.events} events of contexts, {run.messages} messages, {run.seconds:.1f} s).",
        markup=False,
    )


def thread_run_to_dict(
    races: RaceList[ThreadRace], environment: str, run: ProgramRun
) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "environment": environment, "core_events": run.events, "messages": run.messages,
        "analysed_events": run.analysed, "seconds": run.seconds,
        "conflict_records": len(run.log), "trap_records": len(run.traps),
        **result_to_dict(run.result), "counters": run.counters,
        "races": races.json,
    }  # fmt: skip
