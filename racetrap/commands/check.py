"""`racetrap check`: races of a trace or a kernel, by the golden model alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from rich.console import Console

from racetrap.commands.shared.input_files import InputFile, given_name
from racetrap.commands.shared.memory import MEMORY_OPTIONS, memory_options, memory_with
from racetrap.commands.shared.options import (
    compile_options,
    compiler_options,
    complete_preset,
    environment_option,
    instruction_limit_option,
    launch_option,
    oracle_option,
    race_options,
    result_options,
    set_option,
)
from racetrap.commands.shared.stimuli import (
    ACCELERATOR_TRACE,
    GPU_TRACE,
    THREAD_TRACE,
    check_options,
    check_system,
    kind_of,
)
from racetrap.commands.shared.terminal import (
    exit_on,
    input_errors,
    progress,
    report_console,
    write_json,
)
from racetrap.evaluation.scord.detect import check_fit, region_of
from racetrap.evaluation.scord.findings import find_races
from racetrap.evaluation.scord.oracle import (
    ORACLE_RULES,
    by_decree,
    explain_races,
    ordered_by_lockstep,
    run_oracle,
    unconfirmed,
)
from racetrap.evaluation.sigrace.suppressions import Suppressions, read_suppressions
from racetrap.generators.presets import find_preset, with_settings
from racetrap.golden_model.noncoherent.noncoherent import MODES, Noncoherent, has_races
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace import AnyTrace, NoncoherentTrace, ThreadTrace, Trace, read_trace
from racetrap.presenters import noncoherent_races, scord_races, sigrace_races
from racetrap.presenters.race_choice import RaceChoice

if TYPE_CHECKING:
    from racetrap.sim.gpu.cuda.toolkit import CompilerOptions

__all__ = ["command"]

#: Names of kernel files end so; what runs them is slow to import.
_KERNELS = (".cu", ".ptx")
#: Number of races, and what JSON says.
_Outcome = tuple[int, dict[str, Any]]
#: Options that are not for every trace.
_STIMULI = {
    **{
        name: [GPU_TRACE, THREAD_TRACE]
        for name in ("preset_name", "settings", "shows_all", "limit")
    },
    **{
        name: [THREAD_TRACE]
        for name in ("environment", "interval", "ideal", "instruction_limit", "exact", "suppressed")
    },
    **{name: [ACCELERATOR_TRACE] for name in ("mode", *MEMORY_OPTIONS)},
}
#: Options that are about a detector.
_OF_A_DETECTOR = ("preset_name", "settings", "environment", "interval", "ideal", "oracle")


@click.command("check")
@click.argument("path", metavar="TRACE|KERNEL", type=InputFile())
@launch_option(required=False)
@compile_options
@click.option(
    "--preset", "preset_name", shell_complete=complete_preset,
    help="Detector to check with.  [default: scord or sigrace, as the trace says]",
)  # fmt: skip
@set_option
@race_options
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
    "Also list the races that an exact analysis finds in the same run; of a GPU by RULE: "
    "causality (the default: PTX's memory model; volatile accesses must be ordered), ptx (by the "
    "letter, volatile accesses need no order), scoped (the ScoRD paper's)."
)
@click.option(
    "--exact", is_flag=True,
    help="Exact analysis of threads in the place of a detector: each pair of instructions that "
    "races, with locks and allocation, and lock-order inversions; millions of events a second.",
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
    snooping: bool | None, oracle: str | None, exact: bool, suppressed: str | None,
    json_file: str | None,
) -> None:  # fmt: skip
    """Check the trace file TRACE, or a run of KERNEL, for races with the golden model.

    KERNEL is a .cu or .ptx file, run as the launch file says.  TRACE - is standard input.  Prints
    races with address, PCs and both accesses, of those that are alike the first; of a CPU and its
    accelerators every one, also with the bytes and the cure.

    Exit status: 0 no race, 1 races (or lock-order inversions) found, 2 bad input.
    """
    options = compiler_options(include, define, arch, std)
    trace, run, independent = _trace_of(path, launch_file, options)
    console = report_console(json_file)
    with input_errors():
        check_options(_STIMULI, kind_of(trace))
        if not isinstance(trace, Trace) and oracle not in (None, ORACLE_RULES[0]):
            raise ValueError(f"Rule of the oracle must be left out but for GPUs, not {oracle}")
        if suppressed and not exact:
            raise ValueError("Suppressions must come with --exact, not with a detector")
    known = {"trace": given_name(path), "events": len(trace)}
    if exact:
        _check_exact(trace, known, suppressed, json_file)
    if isinstance(trace, NoncoherentTrace):
        with input_errors(path):
            memory = memory_with(trace.header.memory, line, granule, prefetch, snooping)
            detector = Noncoherent(memory, mode)
            is_racy, result = _check_accelerators(console, trace, detector, oracle is not None)
        write_json(json_file, {**known, **result})
        exit_on(is_racy)
    choice = RaceChoice(shows_all, limit, json_file is not None)
    preset = preset_name or trace.header.system
    with input_errors():
        params = with_settings(find_preset(preset).params, settings)
        check_system(params, trace.header.system, "this trace")
    with input_errors(path):
        if isinstance(trace, ThreadTrace):
            assert isinstance(params, SigraceParams)
            sigrace = Sigrace(params, Environment(environment), interval, ideal, instruction_limit)
            outcome = _check_threads(console, choice, trace, sigrace, oracle is not None)
        else:
            assert isinstance(params, ScordParams)
            outcome = _check_gpu(console, choice, trace, params, oracle, independent)
    found, document = outcome
    write_json(json_file, {
        **known, "preset": preset, "parameters": asdict(params), **document, **run,
    })  # fmt: skip
    exit_on(found)


def _trace_of(
    path: str, launch_file: str | None, options: CompilerOptions
) -> tuple[AnyTrace, dict[str, Any], bool]:
    """Trace to be checked, what JSON says of the run that it was taken from, and whether the lanes
    of warps were scheduled independently in it."""
    if launch_file is not None:
        # The executor is slow to import.
        from racetrap.commands.shared.kernels import capture_kernel, run_to_dict

        captured = capture_kernel(path, launch_file, options)
        facts = {"launch": launch_file, "run": run_to_dict(captured)}
        return captured.trace, facts, captured.independent_threads
    with input_errors():
        if Path(path).suffix in _KERNELS:
            raise ValueError(f"Check of a kernel must have --launch FILE, not only {path}")
        if options.is_given:
            raise ValueError(f"Options of the compiler must come with a .cu file, not {path}")
        return read_trace(path), {}, False


def _check_gpu(
    console: Console,
    choice: RaceChoice,
    trace: Trace,
    params: ScordParams,
    oracle: str | None,
    independent: bool,
) -> _Outcome:
    """Run ScoRD, print the races; how many, and what JSON says of them."""
    check_fit(trace, params)
    events = progress(trace, "Checking", len(trace))
    scord, findings = find_races(trace, params, region_of(trace), events)
    races = scord_races.race_list(console, choice)
    races.take_all(findings)
    scord_races.print_kinds(console, races)
    console.print(
        f"Races: {races.count} ({len(scord.unique)} of different PC and kind) "
        f"in {len(trace)} events, {scord.counters['accesses']} accesses "
        f"({scord.counters['unmonitored']} outside the monitored region)."
    )
    result: dict[str, Any] = {
        "unique": len(scord.unique),
        "counters": scord.counters,
        "races": races.json,
    }
    if oracle:
        from racetrap.presenters.scord_oracle import Strays, oracle_to_dict, print_oracle

        judged, locations = run_oracle(trace, oracle, independent), trace.header.locations
        lockstep = [] if independent else ordered_by_lockstep(trace, oracle, judged)
        found, strong = explain_races(trace, params, judged, scord.unique), judged.unordered_strong
        lone = unconfirmed(scord.unique, judged)
        decreed = by_decree(trace, oracle, lone)
        strays = Strays(decreed, [report for report in lone if report not in decreed])
        print_oracle(console, found, strong, lockstep, strays, locations)
        result["oracle"] = {
            "rule": oracle,
            "independent_threads": independent,
            **oracle_to_dict(found, strong, lockstep, strays, locations),
        }
    return races.count, result


def _check_exact(
    trace: object, known: Mapping[str, Any], suppressed: str | None, json_file: str | None
) -> NoReturn:
    """Run the exact detector, print what is not suppressed, and exit."""
    with input_errors():
        suppressions = read_suppressions(Path(suppressed)) if suppressed else Suppressions()
        others = {name: ["a check without --exact"] for name in _OF_A_DETECTOR}
        check_options(others, "an exact check")
    assert isinstance(trace, ThreadTrace)
    # The compiled detector is for long traces only.
    from racetrap.evaluation.sigrace.exact_check import check_exactly
    from racetrap.presenters.exact_findings import findings_to_dict, print_findings

    findings, console = check_exactly(trace, suppressions), report_console(json_file)
    print_findings(console, findings, trace)
    for pattern in suppressions.unused:
        console.print(f"Suppression matches nothing: {pattern}", markup=False)
    write_json(json_file, {**known, **findings_to_dict(findings, trace.header.locations)})
    exit_on(findings.races or findings.inversions)


def _check_accelerators(
    console: Console, trace: NoncoherentTrace, detector: Noncoherent, oracle: bool
) -> tuple[bool, dict[str, Any]]:
    """Run the detector, print the races; whether one counts, and what JSON says of them."""
    # The compiled detector is for long traces only.
    from racetrap.evaluation.noncoherent.detect import find_races

    races, memory = find_races(detector, trace), detector.memory
    noncoherent_races.print_races(console, races, trace)
    console.print(
        f"Races: {len(races)} in {len(trace)} operations, mode {detector.mode}, lines of "
        f"{memory.line_bytes} bytes, written back by {memory.granule_bytes}."
    )
    result: dict[str, Any] = {
        "mode": detector.mode,
        "memory": asdict(memory),
        "layout": trace.header.layout,
        "races": [noncoherent_races.race_to_dict(race, trace.header.locations) for race in races],
    }
    if oracle:
        from racetrap.golden_model.noncoherent.oracle import racy_bytes

        racy, (first, _) = racy_bytes(memory, list(trace)), detector.first(trace)
        noncoherent_races.print_oracle(console, racy, first, detector.mode)
        result["oracle"] = noncoherent_races.oracle_to_dict(racy, first)
    return has_races(races), result


def _check_threads(
    console: Console, choice: RaceChoice, trace: ThreadTrace, sigrace: Sigrace, oracle: bool
) -> _Outcome:
    """As ``_check_gpu``, with SigRace."""
    found, locations = sigrace.run(trace), trace.header.locations
    races = sigrace_races.race_list(console, choice, locations)
    words = sigrace_races.print_result(console, races, found, locations)
    console.print(
        f"Races: {words} in {len(trace)} events of {trace.header.threads} threads; overhead of "
        f"Re-execution and Analysis {found.statistics.overhead:.1%} of the committed instructions."
    )
    result: dict[str, Any] = {
        "environment": asdict(sigrace.environment),
        "checkpoint_interval": sigrace.checkpoint_interval,
        "unbounded": sigrace.unbounded,
        **sigrace_races.result_to_dict(found),
        "races": races.json,
    }
    if oracle:
        from racetrap.evaluation.sigrace.oracle import compare_with_oracle
        from racetrap.presenters.sigrace_oracle import oracle_to_dict, print_oracle

        comparison = compare_with_oracle(trace, sigrace, found)
        print_oracle(console, comparison, locations)
        result["oracle"] = oracle_to_dict(comparison, locations)
    return races.count, result
