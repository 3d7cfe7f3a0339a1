"""Checks of threads: exact, and by SigRace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from racetrap.calls.checks.subject import Outcome
from racetrap.commands.shared.terminal import input_errors
from racetrap.generators.presets import chosen_params
from racetrap.generators.sigrace import widened
from racetrap.golden_model.sigrace.run_settings import SigraceRun
from racetrap.golden_model.trace import ThreadTrace
from racetrap.presenters import sigrace_races
from racetrap.presenters.findings import print_findings, run_findings
from racetrap.presenters.race_choice import RaceChoice
from racetrap.sim.cpu.sigrace.compiled_sigrace import run_sigrace
from racetrap.verdict.line_pairs import divide_run
from racetrap.verdict.threads.line_races import divide_thread_races, thread_race
from racetrap.verdict.threads.suppressions import Suppressions, read_suppressions
from racetrap.verdict.threads.timelines import timeline_of

if TYPE_CHECKING:
    from racetrap.verdict.baseline import Baseline


def check_exact(
    console: Console, choice: RaceChoice, trace: object, baseline: Baseline | None,
    suppressed: str | Path | None, fails_fast: bool,
) -> Outcome:  # fmt: skip
    """Run the exact detector and print what is neither suppressed nor known."""
    with input_errors():
        suppressions = read_suppressions(Path(suppressed)) if suppressed else Suppressions()
    assert isinstance(trace, ThreadTrace)
    # The compiled detector is for long traces only.
    from racetrap.presenters.exact_findings import exact_to_dict, inversion_sentence
    from racetrap.verdict.threads.exact_check import check_exactly

    exact, header = check_exactly(trace, suppressions, fails_fast), trace.header
    by_line = [
        replace(
            thread_race(race.first, header, race.addresses, context),
            make_timeline=partial(timeline_of, race.first, context, trace),
        )
        for race, context in zip(exact.races, exact.contexts, strict=True)
    ]
    pairs = divide_run(by_line, baseline)
    new = pairs.new_places
    kept = [number for number, race in enumerate(by_line) if race.places in new]
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
            f" Stopped at event {exact.events - 1}: later races and lock-order "
            "inversions were not checked."
        )
    unused = [f"Suppression matches nothing: {pattern}" for pattern in suppressions.unused]
    locks = {"locks": [inversion_sentence(cycle, header) for cycle in exact.inversions]}
    findings = run_findings(pairs, [words, *unused], locks)
    print_findings(console, findings, choice)
    return Outcome(findings, pairs.known, exact_to_dict(exact, header))


def check_threads(
    console: Console, choice: RaceChoice, trace: ThreadTrace, path: str, detector: str | None,
    settings: Sequence[str], oracle: bool, baseline: Baseline | None,
) -> Outcome:  # fmt: skip
    """Run SigRace and print the races."""
    header = trace.header
    preset = detector or header.system
    with input_errors():
        params, run = chosen_params(preset, settings, ThreadTrace, SigraceRun())
        if not detector:
            given = {setting.partition("=")[0] for setting in settings}
            params = widened(params, header.threads, given)
    with input_errors(path):
        sigrace = run.sigrace(params)
        whole = run_sigrace(sigrace, trace)
    pairs, new = divide_thread_races(whole.races, trace, baseline)
    result = replace(whole, races=new)
    findings = run_findings(
        pairs, [sigrace_races.summary_sentence(result.races, result.statistics.overhead, trace)]
    )
    races = sigrace_races.race_list(console, choice, header)
    sigrace_races.print_result(console, races, result, header)
    console.print("\n".join(findings.summary), markup=False)
    document: dict[str, Any] = {
        "preset": preset,
        "parameters": asdict(params),
        "environment": asdict(sigrace.environment),
        "checkpoint_interval": sigrace.checkpoint_interval,
        "unbounded": sigrace.unbounded,
        "rollback_when": sigrace.rollback_when,
        "ring_depth": sigrace.ring_depth,
        **sigrace_races.result_to_dict(result),
        "races": races.json,
    }
    if oracle:
        from racetrap.presenters.sigrace_oracle import oracle_to_dict, print_oracle
        from racetrap.verdict.threads.oracle import compare_with_oracle

        with input_errors(path):
            comparison = compare_with_oracle(trace, sigrace, whole)
        print_oracle(console, comparison, header)
        document["oracle"] = oracle_to_dict(comparison, header)
    return Outcome(findings, pairs.known, document)
