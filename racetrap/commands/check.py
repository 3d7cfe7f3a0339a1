"""`racetrap check`: races of a trace or a kernel, by the golden model alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    memory_model_option,
    oracle_option,
    race_options,
    result_options,
    set_option,
)
from racetrap.commands.shared.reports import Reports, report_options
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
from racetrap.evaluation.line_pairs import LinePair, LinePairs, LineRace
from racetrap.evaluation.noncoherent.line_races import operation_race
from racetrap.evaluation.scord.oracle import JUDGE, ORACLE_RULES
from racetrap.evaluation.scord.trace_check import MOST_FINDING, Detector, TraceCheck
from racetrap.evaluation.sigrace.line_races import thread_race
from racetrap.evaluation.sigrace.suppressions import Suppressions, read_suppressions
from racetrap.evaluation.source_text import relative_place
from racetrap.generators.presets import find_preset, with_settings
from racetrap.golden_model.noncoherent.noncoherent import MODES, Noncoherent
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace import AnyTrace, NoncoherentTrace, ThreadTrace, Trace, read_trace
from racetrap.presenters import noncoherent_races, scord_races, sigrace_races
from racetrap.presenters.findings import Findings, known_sentences, print_findings
from racetrap.presenters.line_pairs import exposure_text, number_text
from racetrap.presenters.race_choice import RaceChoice
from racetrap.presenters.scord_oracle import oracle_to_dict
from racetrap.presenters.trace_findings import fault_sentence, trace_check_to_dict, trace_findings
from racetrap.sim.cpu.sigrace.compiled_sigrace import run_sigrace

if TYPE_CHECKING:
    from racetrap.evaluation.baseline import Baseline
    from racetrap.sim.gpu.cuda.toolkit import CompilerOptions
    from racetrap.sim.gpu.launch.capture import Capture
    from racetrap.sim.gpu.launch.launch_file import LaunchSpec
    from racetrap.sim.gpu.ptx.module import Module

__all__ = ["command"]

#: Runs for each race, to expose it.
_RUNS = 100
#: Names of kernel files end so; what runs them is slow to import.
_KERNELS = (".cu", ".ptx")
#: What was found, races of the baseline, and what JSON says.
_Outcome = tuple[Findings, list[LinePair], dict[str, Any]]
#: Options that are not for every trace.
_STIMULI = {
    **{
        name: [GPU_TRACE, THREAD_TRACE]
        for name in ("preset_name", "settings", "shows_all", "limit")
    },
    "detector_only": [GPU_TRACE],
    **{
        name: [THREAD_TRACE]
        for name in ("environment", "interval", "ideal", "instruction_limit", "exact")
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
    subject = _subject_of(path, launch_file, options, memory, runs)
    trace = subject.first
    console = report_console(json_file)
    with input_errors():
        check_options(_STIMULI, kind_of(trace))
        if not isinstance(trace, Trace) and oracle not in (None, ORACLE_RULES[0]):
            raise ValueError(f"Rule of the oracle must be left out but for GPUs, not {oracle}")
        if detector_only and oracle:
            raise ValueError("Option --oracle must come without --detector-only")
        if not exact:
            for what, value in (("Suppressions", suppressed), ("Option --fail-fast", fail_fast)):
                if value:
                    raise ValueError(f"{what} must come with --exact, not with a detector")
    known = {"trace": given_name(path), "events": len(trace)}
    reports = Reports(**report_files)
    baseline = reports.baseline()
    choice = RaceChoice(shows_all, limit, json_file is not None)
    if exact:
        found, known_pairs, document = _check_exact(
            console, choice, trace, baseline, suppressed, fail_fast
        )
        reports.write(console, given_name(path), found, known_pairs)
        write_json(json_file, {**known, **document})
        exit_on(found.pairs or any(found.others.values()))
    if isinstance(trace, NoncoherentTrace):
        with input_errors(path):
            lines = memory_with(trace.header.memory, line, granule, prefetch, snooping)
            detector = Noncoherent(lines, mode)
            found, known_pairs, document = _check_accelerators(
                console, trace, detector, oracle is not None, baseline
            )
        reports.write(console, given_name(path), found, known_pairs)
        write_json(json_file, {**known, **document})
        exit_on(found.pairs)
    preset = preset_name or (MOST_FINDING if isinstance(trace, Trace) else trace.header.system)
    with input_errors():
        params = with_settings(find_preset(preset).params, settings)
        check_system(params, trace.header.system, "this trace")
    with input_errors(path):
        if isinstance(trace, ThreadTrace):
            assert isinstance(params, SigraceParams)
            sigrace = Sigrace(params, Environment(environment), interval, ideal, instruction_limit)
            outcome = _check_threads(console, choice, trace, sigrace, oracle is not None, baseline)
        else:
            assert isinstance(params, ScordParams)
            rule = None if detector_only else oracle or JUDGE
            check = TraceCheck(
                baseline, rule, Detector(preset, params), Path(path).parent, subject.independent
            )
            outcome = _check_gpu(console, choice, trace, check, subject)
    found, known_pairs, document = outcome
    reports.write(console, given_name(path), found, known_pairs)
    write_json(json_file, {
        **known, "preset": preset, "parameters": asdict(params), **document, **subject.run,
    })  # fmt: skip
    exit_on(found.pairs or any(found.others.values()))


@dataclass
class _Subject:
    """What is checked: a trace, or one for each schedule of a kernel.

    Parameters
    ----------
    first : AnyTrace
        The first trace.
    others : iterable of Capture
        Further runs of a kernel, made as they are asked for.
    run : dict
        What JSON says of the runs of a kernel.
    differences : list of str
        What buffers do not hold, though it is expected; of all runs so far.
    faults : list of str
        What ended kernels before their time; of all runs so far.
    independent : bool
        Whether the lanes of warps were scheduled independently.
    expose : callable, optional
        Notes with each race of a check whether it is exposed by a weak memory: failures by what is
        no race, and a summary, in sentences.
    """

    first: AnyTrace
    others: Iterable[Capture] = ()
    run: dict[str, Any] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    independent: bool = False
    expose: Callable[[TraceCheck], tuple[list[str], list[str]]] | None = None

    def further_traces(self) -> Iterator[Trace]:
        """Traces of the further runs."""
        for captured in self.others:
            self.differences += captured.differences
            self.faults += [str(captured.fault)] if captured.fault else []
            yield captured.trace


def _subject_of(
    path: str, launch_file: str | None, options: CompilerOptions, memory: str | None,
    runs: int | None,
) -> _Subject:  # fmt: skip
    with input_errors():
        if memory and launch_file is None:
            raise ValueError(f"Option --memory must come with a kernel and --launch, not {path}")
        if runs and not memory:
            raise ValueError("Option --runs must come with --memory")
    if launch_file is not None:
        # The executor is slow to import.
        from racetrap.commands.shared.kernels import capture_kernel, read_kernel, run_to_dict

        module, launch = read_kernel(path, launch_file, options)
        captures = capture_kernel(module, launch)
        first = next(captures)
        differences = list(first.differences)
        faults = [str(first.fault)] if first.fault else []
        run = {
            "launch": launch_file, "run": run_to_dict(first), "results": differences,
            "faults": faults,
        }  # fmt: skip
        expose = memory and partial(
            _expose, module, launch, memory, runs or _RUNS, Path(path).parent
        )
        return _Subject(
            first.trace, captures, run, differences, faults,
            first.independent_threads, expose or None,
        )  # fmt: skip
    with input_errors():
        if Path(path).suffix in _KERNELS:
            raise ValueError(f"Check of a kernel must have --launch FILE, not only {path}")
        if options.is_given:
            raise ValueError(f"Options of the compiler must come with a .cu file, not {path}")
        return _Subject(read_trace(path))


def _expose(
    module: Module, launch: LaunchSpec, memory: str, runs: int, folder: Path, check: TraceCheck
) -> tuple[list[str], list[str]]:
    """Note with each race whether it is exposed: failures by what is no race of the runs checked,
    and a summary, in sentences."""
    from racetrap.evaluation.scord.exposed_races import ExposureSearch, expose_races
    from racetrap.sim.gpu.stress.kernel_subject import KernelSubject

    try:
        subject = KernelSubject(module, launch)
    except ValueError as error:
        return [], [f"Exposure not looked for: {error}"]
    pairs = [*check.pairs, *check.strong]
    search = ExposureSearch(memory, runs, launch.seed)
    weak_only = expose_races(
        pairs, subject, search, folder, lambda each: progress(each, "Exposing", len(each))
    )
    failures = [
        f"{relative_place(pair.first.later.place)}: {exposure_text(pair.exposure)}"
        for pair in check.strong
        if pair.exposure["failure"]
    ]
    for lines, exposure in weak_only.items():
        where = " and ".join(map(relative_place, sorted(lines)))
        failures.append(
            f"{where}: no race in sequentially consistent runs: {exposure_text(exposure)}"
        )
    exposed = sum(pair.exposure["failure"] is not None for pair in pairs)
    counted = f"{exposed} of {number_text(len(pairs), 'unordered pair')}"
    return failures, [f"Exposed by {memory}: {counted}, {len(weak_only)} by weak memory alone."]


def _check_gpu(
    console: Console, choice: RaceChoice, trace: Trace, check: TraceCheck, subject: _Subject
) -> _Outcome:
    """Check all traces and print what was found."""
    # Reports of a detector that does not judge are for programs alone.
    listed = choice if check.rule is None else replace(choice, shows_all=False)
    reports = scord_races.race_list(console, listed)
    check.add(trace, progress(trace, "Checking", len(trace)), reports.take)
    for other in subject.further_traces():
        check.add(other, found=reports.take)
    failures, remarks = subject.expose(check) if subject.expose else ([], [])
    others = {
        "faults": [fault_sentence(each) for each in dict.fromkeys(subject.faults)],
        "results": [f"Result: {each}." for each in dict.fromkeys(subject.differences)],
        **({"memory": failures} if subject.expose else {}),
    }
    findings = trace_findings(check, choice, others if subject.run else {}, remarks)
    if check.rule is not None:
        print_findings(console, findings, choice)
        document = {
            **trace_check_to_dict(check),
            "exposed_besides": failures,
            "reports": reports.json,
            "oracle": oracle_to_dict(check.detector_runs[0], trace.header.locations),
        }
        return findings, check.known, document
    counters, unique = check.counters, {key for run in check.detector_runs for key in run.unique}
    scord_races.print_kinds(console, reports)
    console.print(
        f"Reports: {reports.count} ({len(unique)} of different PC and kind) "
        f"in {sum(check.events)} events, {counters['accesses']} accesses "
        f"({counters['unmonitored']} outside the monitored region)."
    )
    console.print(
        "\n".join([*others["faults"], *others["results"], *findings.summary]), markup=False
    )
    document = {
        "unique": len(unique), "counters": dict(counters), "races": reports.json,
    }  # fmt: skip
    return findings, check.known, document


def _line_findings(
    races: Iterable[LineRace], baseline: Baseline | None
) -> tuple[Findings, list[LinePair], Callable[[LineRace], bool]]:
    """Races by pair of lines, those that the baseline knows, and whether a race
    is none of these."""
    pairs = LinePairs()
    pairs.add(races)
    new, known, not_found = pairs.divide(baseline)
    places = {pair.first.places for pair in new}
    findings = Findings(new, known_sentences(known, not_found))
    return findings, known, lambda race: race.places in places


def _check_exact(
    console: Console, choice: RaceChoice, trace: object, baseline: Baseline | None,
    suppressed: str | None, fails_fast: bool,
) -> _Outcome:  # fmt: skip
    """Run the exact detector and print what is neither suppressed nor known."""
    with input_errors():
        suppressions = read_suppressions(Path(suppressed)) if suppressed else Suppressions()
        others = {name: ["a check without --exact"] for name in _OF_A_DETECTOR}
        check_options(others, "an exact check")
    assert isinstance(trace, ThreadTrace)
    # The compiled detector is for long traces only.
    from racetrap.evaluation.sigrace.exact_check import check_exactly
    from racetrap.presenters.exact_findings import exact_to_dict, inversion_sentence

    exact, header = check_exactly(trace, suppressions, fails_fast), trace.header
    by_line = [
        thread_race(race.first, header, race.addresses, context)
        for race, context in zip(exact.races, exact.contexts, strict=True)
    ]
    findings, known, is_new = _line_findings(by_line, baseline)
    kept = [number for number, race in enumerate(by_line) if is_new(race)]
    exact = exact._replace(
        races=[exact.races[number] for number in kept],
        contexts=[exact.contexts[number] for number in kept],
    )
    words = (
        f"Races: {len(kept)} pair{'s' * (len(kept) != 1)} of instructions in {len(trace)} "
        f"events of {trace.header.threads} threads; lock-order inversions: "
        f"{len(exact.inversions)}; suppressed: {exact.suppressed}."
    )
    if exact.events < len(trace):
        words += (
            f" Stopped at event {exact.events - 1}: what comes after it, and lock-order "
            "inversions, were not looked for."
        )
    unused = [f"Suppression matches nothing: {pattern}" for pattern in suppressions.unused]
    findings = replace(
        findings,
        others={"locks": [inversion_sentence(cycle, header) for cycle in exact.inversions]},
        summary=[words, *unused, *findings.summary],
    )
    print_findings(console, findings, choice)
    return findings, known, exact_to_dict(exact, header)


def _check_accelerators(
    console: Console, trace: NoncoherentTrace, detector: Noncoherent, oracle: bool,
    baseline: Baseline | None,
) -> _Outcome:  # fmt: skip
    """Run the detector and print the races."""
    # The compiled detector is for long traces only.
    from racetrap.evaluation.noncoherent.detect import find_races

    whole, memory, locations = find_races(detector, trace), detector.memory, trace.header.locations
    findings, known, is_new = _line_findings(
        (operation_race(race, locations) for race in whole if not race.is_overwritten), baseline
    )
    races = [
        race for race in whole if race.is_overwritten or is_new(operation_race(race, locations))
    ]
    noncoherent_races.print_races(console, races, trace)
    summary = [
        f"Races: {len(races)} in {len(trace)} operations, mode {detector.mode}, lines of "
        f"{memory.line_bytes} bytes, written back by {memory.granule_bytes}.",
        *findings.summary,
    ]
    console.print("\n".join(summary), markup=False)
    result: dict[str, Any] = {
        "mode": detector.mode,
        "memory": asdict(memory),
        "layout": trace.header.layout,
        "races": [noncoherent_races.race_to_dict(race, locations) for race in races],
    }
    if oracle:
        from racetrap.golden_model.noncoherent.oracle import racy_bytes

        racy, (first, _) = racy_bytes(memory, list(trace)), detector.first(trace)
        noncoherent_races.print_oracle(console, racy, first, detector.mode)
        result["oracle"] = noncoherent_races.oracle_to_dict(racy, first)
    return replace(findings, summary=summary), known, result


def _check_threads(
    console: Console, choice: RaceChoice, trace: ThreadTrace, sigrace: Sigrace, oracle: bool,
    baseline: Baseline | None,
) -> _Outcome:  # fmt: skip
    """Run SigRace and print the races."""
    whole, header = run_sigrace(sigrace, trace), trace.header
    findings, known, is_new = _line_findings(
        (thread_race(race, header) for race in whole.races), baseline
    )
    result = replace(
        whole, races=[race for race in whole.races if is_new(thread_race(race, header))]
    )
    races = sigrace_races.race_list(console, choice, header)
    words = sigrace_races.print_result(console, races, result, header)
    overhead = f"{result.statistics.overhead:.1%}"
    summary = [
        f"Races: {words} in {len(trace)} events of {trace.header.threads} threads; overhead of "
        f"Re-execution and Analysis {overhead} of the committed instructions.",
        *findings.summary,
    ]
    console.print("\n".join(summary), markup=False)
    document: dict[str, Any] = {
        "environment": asdict(sigrace.environment),
        "checkpoint_interval": sigrace.checkpoint_interval,
        "unbounded": sigrace.unbounded,
        **sigrace_races.result_to_dict(result),
        "races": races.json,
    }
    if oracle:
        from racetrap.evaluation.sigrace.oracle import compare_with_oracle
        from racetrap.presenters.sigrace_oracle import oracle_to_dict, print_oracle

        comparison = compare_with_oracle(trace, sigrace, whole)
        print_oracle(console, comparison, header)
        document["oracle"] = oracle_to_dict(comparison, header)
    return replace(findings, summary=summary), known, document
