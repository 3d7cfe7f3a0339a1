"""`racetrap check`: races of a trace or a kernel, by the golden model alone."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from racetrap.commands.shared.checks.accelerators import check_accelerators
from racetrap.commands.shared.checks.gpu import check_gpu
from racetrap.commands.shared.checks.subject import read_subject
from racetrap.commands.shared.checks.threads import check_exact, check_threads
from racetrap.commands.shared.input_files import InputFile, given_name
from racetrap.commands.shared.memory import MEMORY_OPTIONS, memory_options, memory_with
from racetrap.commands.shared.options import (
    compile_options,
    compiler_options,
    complete_preset,
    environment_option,
    instruction_limit_option,
    launch_option,
    memory_model_option,
    oracle_option,
    race_options,
    result_options,
    set_option,
)
from racetrap.commands.shared.reports import Reports, report_options
from racetrap.commands.shared.stimuli import check_options, chosen_params
from racetrap.commands.shared.terminal import exit_on, input_errors, report_console, write_json
from racetrap.golden_model.noncoherent.noncoherent import MODES, Noncoherent
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.playback import widened
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace import NoncoherentTrace, ThreadTrace, Trace
from racetrap.presenters.race_choice import RaceChoice
from racetrap.verdict.gpu.oracle import JUDGE, ORACLE_RULES
from racetrap.verdict.gpu.trace_check import MOST_FINDING

#: Options that are not for every trace.
_STIMULI = {
    **{
        name: [Trace.kind, ThreadTrace.kind]
        for name in ("preset_name", "settings", "shows_all", "limit")
    },
    "detector_only": [Trace.kind],
    **{
        name: [ThreadTrace.kind]
        for name in ("environment", "interval", "ideal", "instruction_limit", "exact")
    },
    **{name: [NoncoherentTrace.kind] for name in ("mode", *MEMORY_OPTIONS)},
}


@click.command("check")
@click.argument("path", metavar="TRACE|KERNEL", type=InputFile())
@launch_option(required=False)
@compile_options
@click.option(
    "--preset", "preset_name", shell_complete=complete_preset,
    help="Detector to check with.  [default: of a GPU the one that misses least, scord-nocache; "
    "of threads sigrace]",
)  # fmt: skip
@set_option
@race_options
@report_options
@instruction_limit_option
@environment_option
@click.option(
    "--checkpoint", "interval", type=click.IntRange(min=1), default=1_000_000, show_default=True,
    help="Instructions committed by one thread from one checkpoint to the next.",
)  # fmt: skip
@click.option(
    "--ideal", is_flag=True, help="Ideal SigRace: queues and a conflict log without limit."
)
@click.option(
    "--mode", type=click.Choice(list(MODES)), default="strict", show_default=True,
    help="Accelerators: byte-exact rules, or those of the thesis.",
)  # fmt: skip
@memory_options("default: as the trace says, or")
@oracle_option(
    "Of a GPU: rule of the exact analysis, whose verdict counts: causality (the default: PTX's "
    "memory model; volatile accesses must be ordered), ptx (by the letter, volatile accesses need "
    "no order), scoped (the ScoRD paper's: weak accesses need barriers).  Of others: also list the "
    "races that an exact analysis finds in the same run."
)
@click.option(
    "--detector-only", is_flag=True,
    help="Of a GPU: the verdict of the detector alone, and every report of it, in the place of the "
    "exact analysis.",
)  # fmt: skip
@memory_model_option("Of a kernel: also say of each race whether it is exposed by a weak memory")
@click.option(
    "--runs", type=click.IntRange(min=1),
    help="With --memory: most runs for each race; the first has the seed of the launch file.  "
    "[default: 100]",
)  # fmt: skip
@click.option(
    "--exact", is_flag=True,
    help="Exact analysis of threads in the place of a detector: each pair of instructions that "
    "races, with locks and allocation, and lock-order inversions; millions of events a second.",
)  # fmt: skip
@click.option(
    "--fail-fast", is_flag=True,
    help="Stop, with --exact, at the first event that races.",
)  # fmt: skip
@click.option(
    "--suppress", "suppressed", metavar="FILE", type=InputFile(),
    help="Leave out, with --exact, what matches a line of FILE: a pattern of places (bank.c:*), or "
    "two of them.",
)  # fmt: skip
@result_options
def command(
    path: str, launch_file: str | None, include: tuple[str, ...], define: tuple[str, ...],
    arch: int, std: str | None, preset_name: str | None, settings: tuple[str, ...],
    shows_all: bool, limit: int | None, instruction_limit: int, environment: str, interval: int,
    ideal: bool, mode: str, line: int | None, granule: int | None, prefetch: bool | None,
    snooping: bool | None, oracle: str | None, detector_only: bool, memory: str | None,
    runs: int | None, exact: bool, fail_fast: bool, suppressed: str | None, json_file: str | None,
    **report_files: Any,
) -> None:  # fmt: skip
    """Check the trace file TRACE, or a run of KERNEL, for races with the golden model.

    KERNEL is a .cu or .ptx file, run as the launch file says.  TRACE - is standard input.  Of a
    GPU the exact analysis judges, and what the detector made of each race is said beside it; of
    threads the detector; of a CPU and its accelerators every race comes with the bytes and the
    cure.

    Exit status: 0 no race, 1 races or other findings, such as a fault of KERNEL, 2 bad input.
    """
    options = compiler_options(include, define, arch, std)
    subject = read_subject(path, launch_file, options, memory, runs)
    trace = subject.first
    console = report_console()
    with input_errors():
        check_options(_STIMULI, trace.kind)
        if not len(trace):
            raise ValueError(f"{path}: Trace must have events to be checked, not only a header")
        if not isinstance(trace, Trace) and oracle not in (None, ORACLE_RULES[0]):
            raise ValueError(f"Rule of the oracle must be left out but for GPUs, not {oracle}")
        if detector_only and oracle:
            raise ValueError("Option --oracle must come without --detector-only")
        if not exact:
            for what, value in (("Suppressions", suppressed), ("Option --fail-fast", fail_fast)):
                if value:
                    raise ValueError(f"{what} must come with --exact, not with a detector")
    reports = Reports(**report_files)
    baseline = reports.baseline()
    choice = RaceChoice(shows_all, limit, json_file is not None)
    detector: dict[str, Any] = {}
    if exact:
        outcome = check_exact(console, choice, trace, baseline, suppressed, fail_fast)
    elif isinstance(trace, Trace):
        rule = None if detector_only else oracle or JUDGE
        outcome = check_gpu(
            console, choice, subject, path, preset_name or MOST_FINDING, settings, rule, baseline
        )
    elif isinstance(trace, NoncoherentTrace):
        with input_errors(path):
            lines = memory_with(trace.header.memory, line, granule, prefetch, snooping)
            outcome = check_accelerators(
                console, trace, Noncoherent(lines, mode), oracle is not None, baseline
            )
    else:
        assert isinstance(trace, ThreadTrace)
        preset = preset_name or trace.header.system
        with input_errors():
            params = chosen_params(preset, settings, ThreadTrace)
            if not preset_name:
                given = {setting.partition("=")[0] for setting in settings}
                params = widened(params, trace.header.threads, given)
        detector = {"preset": preset, "parameters": asdict(params)}
        with input_errors(path):
            sigrace = Sigrace(params, Environment(environment), interval, ideal, instruction_limit)
            outcome = check_threads(console, choice, trace, sigrace, oracle is not None, baseline)
    reports.write(given_name(path), outcome.findings, outcome.known)
    write_json(json_file, {
        "trace": given_name(path), "events": len(trace), **detector, **outcome.document,
        **subject.run,
    })  # fmt: skip
    exit_on(outcome.findings.pairs or any(outcome.findings.others.values()))
