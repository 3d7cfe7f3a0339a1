"""Simulation of a preset's hardware beside its golden model, every step compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from racetrap.calls.arguments import refusal
from racetrap.calls.report import Report
from racetrap.calls.results import SimulateResult
from racetrap.commands.shared.input_files import given_name
from racetrap.commands.shared.simulation import Simulation, Suite
from racetrap.commands.shared.terminal import input_errors
from racetrap.generators.presets import find_preset, with_all_settings
from racetrap.generators.system import System
from racetrap.generators.systems import SYSTEMS, check_reads, check_system, system_of
from racetrap.golden_model.trace import AnyTrace, read_trace

#: Detectors by the names of their suites.
SUITES: Mapping[str, System[Any]] = {
    name: system for system in SYSTEMS for name in system.own("commands.shared.detectors").SUITES
}


def subject_of(system: System[Any], stimulus: str) -> str:
    """Subject of a call: a stimulus on a detector."""
    return f"{stimulus} on {system.name}"


def simulate(
    preset: str, stimulus: str | Path, *, settings: Sequence[str] = (), seed: int = 1,
    schedules: int = 4, size: str = "tiny", all_signals: bool = False,
    regions: Sequence[str] = (), jobs: int = 2, output: Mapping[str, str] | None = None,
    report: Report | None = None,
) -> SimulateResult:  # fmt: skip
    """Simulate a preset's hardware on a trace or a suite, and compare every step with the golden
    model.

    Parameters
    ----------
    preset : str
        The preset.
    stimulus : str or Path
        A trace file, or the name of a suite: ``scor-micro``, ``scor-apps`` or ``threads``.
    settings : sequence of str
        Changed parameters, as ``name=value``.
    seed : int
        Seed for all random choices.
    schedules : int
        For a suite: random schedules of each program.
    size : str
        For a suite: size of the inputs.
    all_signals : bool
        Whether waves have every signal.
    regions : sequence of str
        Monitored bytes, each as ``BASE:BYTES``, instead of the trace's.
    jobs : int
        Worker processes for a suite.
    output : mapping of str to str, optional
        Files for waves, by their suffixes ``.fst`` and ``.vcd``, and for a suite's verdicts,
        ``.xml``.
    report : Report, optional
        Where findings are printed; by default the result has the text.

    Raises
    ------
    ValueError
        If a file cannot be read, or an argument is wrong.
    Failure
        If hardware and golden model disagree, or a tool fails.
    """
    report = report or Report(suits=refusal(simulate, locals()))
    stimulus = str(stimulus)
    with input_errors():
        found = find_preset(preset).params
        own = system_of(found).own("commands.shared.detectors")
        params, run = with_all_settings(settings, found, own.RUN)
        call = Simulation(
            preset, params, report.console, seed, schedules, size, run, all_signals,
            report.choice, jobs, output or {}, tuple(regions),
        )  # fmt: skip
        trace = None if stimulus in SUITES else read_trace(stimulus)
        _check(call, trace, stimulus, report)
    known = {"preset": preset, "parameters": asdict(params), "seed": seed}
    if trace is not None:
        races, document = own.simulate_trace(call, stimulus, trace)
        name = given_name(stimulus)
        return SimulateResult(
            document={"trace": name, **known, "events": len(trace), **document}, text=report.text,
            preset=preset, stimulus=name, races=races,
        )  # fmt: skip
    document, problems = _suite(stimulus).run(call)
    return SimulateResult(
        document={**known, **document}, text=report.text, preset=preset, stimulus=stimulus,
        problems=problems,
    )  # fmt: skip


def _suite(name: str) -> Suite:
    suite: Suite = SUITES[name].own("commands.shared.detectors").SUITES[name]
    return suite


def _check(call: Simulation, trace: AnyTrace | None, stimulus: str, report: Report) -> None:
    """Refuse a preset and options that are not for this stimulus."""
    if not call.params.trace_port:
        raise ValueError("Parameter trace_port must be true to compare steps, not false")
    system = system_of(call.params)
    if trace is not None:
        check_reads(call.params, type(trace))
        report.suits(subject_of(system, trace.kind))
    else:
        check_system(call.params, SUITES[stimulus].name, stimulus)
        report.suits(subject_of(system, f"the suite {stimulus}"))
        _suite(stimulus).check(call)
