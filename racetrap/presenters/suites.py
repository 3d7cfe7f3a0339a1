"""Suites of `racetrap simulate`: text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from racetrap.evaluation.scord.applications import ApplicationVerdict
from racetrap.evaluation.scord.verdicts import Verdict
from racetrap.evaluation.sigrace.hardware import SimulatedProgram
from racetrap.presenters.sigrace_races import result_to_dict
from racetrap.presenters.tables import print_table
from racetrap.schemas.hardware import ApplicationVerdictDocument, MicroBenchmarkVerdict
from racetrap.schemas.values import document
from racetrap.sim.cosim.sigrace.machine import MachineRun
from racetrap.verdict.threads.line_races import by_static_race


def print_micro_benchmarks(
    console: Console, verdicts: Sequence[Verdict], preset: str, seed: int
) -> None:
    """Print the verdicts, and how many are right."""
    print_table(
        console,
        f"ScoR micro-benchmarks on {preset}, seed {seed}",
        ["micro-benchmark", "expected", "golden", "RTL", "kinds", "scope", "cycles", "schedules"],
        [
            (each.name, each.expected, each.golden, each.rtl, ", ".join(sorted(each.kinds)),
             ", ".join(sorted(each.scopes)), max(each.cycles, default=0), each.schedules)
            for each in verdicts
        ],
    )  # fmt: skip
    right = sum(each.is_right for each in verdicts)
    console.print(f"Right in every schedule: {right} of {len(verdicts)} micro-benchmarks.")


def micro_benchmark_to_dict(verdict: Verdict) -> dict[str, Any]:
    """A micro-benchmark as plain data."""
    return document(
        MicroBenchmarkVerdict, verdict,
        scope=sorted(verdict.scopes), cycles=max(verdict.cycles, default=0),
    )  # fmt: skip


def print_applications(
    console: Console, verdicts: Sequence[ApplicationVerdict], size: str, preset: str, seed: int
) -> None:
    """As ``print_micro_benchmarks``."""
    print_table(
        console,
        f"ScoR applications, {size}, on {preset}, seed {seed}: runs in which a race was found",
        ["application", "build", "expected", "runs", "oracle", "golden", "RTL", "kinds", "steps",
         "cycles"],
        [
            (each.build.program, each.build.label, each.expected, each.runs, each.oracle,
             each.golden, each.rtl, ", ".join(sorted(each.kinds)), each.steps, each.cycles)
            for each in verdicts
        ],
    )  # fmt: skip
    right = sum(each.is_right for each in verdicts)
    console.print(f"Right: {right} of {len(verdicts)} builds.")


def application_to_dict(verdict: ApplicationVerdict) -> dict[str, Any]:
    """A build of an application as plain data."""
    name = verdict.build.program
    return document(ApplicationVerdictDocument, verdict, verdict.build, application=name)


def print_programs(
    console: Console, programs: Sequence[SimulatedProgram], size: str, preset: str, seed: int
) -> None:
    """Print what was compared and found in each program that ran."""
    print_table(
        console,
        f"Programs with threads, {size}, on {preset}, seed {seed}",
        ["program", "trace events", "core steps", "messages", "RDM steps", "analysed", "cycles",
         "conflicts", "races (static)", "oracle", "not confirmed"],
        [
            (each.program, each.events, run.events, run.messages, run.rdm_steps, run.analysed,
             run.cycles, run.result.conflicts, len(by_static_race(run.result.races)), each.exact,
             each.unreal)
            for each in programs
            if (run := each.run)
        ],
    )  # fmt: skip


def program_to_dict(program: SimulatedProgram) -> dict[str, Any]:
    """A program as plain data."""
    known = {"program": program.program, "events": program.events}
    if program.run is None:
        return known | {"failure": program.failure}
    return known | {
        "failure": None, "exact": program.exact, "unreal": program.unreal,
        **machine_run_to_dict(program.run),
    }  # fmt: skip


def machine_run_to_dict(run: MachineRun) -> dict[str, Any]:
    """A run on SigRace's hardware, without the races, as plain data."""
    return {
        "core_events": run.events,
        "messages": run.messages,
        "rdm_steps": run.rdm_steps,
        "analysed_events": run.analysed,
        "cycles": run.cycles,
        **result_to_dict(run.result),
    }
