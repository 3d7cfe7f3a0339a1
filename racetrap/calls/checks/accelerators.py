"""Check of a CPU and its accelerators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.console import Console

from racetrap.calls.checks.subject import Outcome
from racetrap.commands.shared.settings import AcceleratorRun, memory_with
from racetrap.commands.shared.terminal import input_errors
from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.trace import NoncoherentTrace
from racetrap.presenters import noncoherent_races
from racetrap.presenters.findings import run_findings
from racetrap.presenters.needless import print_without
from racetrap.presenters.trace_summary import write_words
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.verdict.accelerators.line_races import operation_race
from racetrap.verdict.accelerators.needless import without_each
from racetrap.verdict.accelerators.timelines import timeline_of
from racetrap.verdict.line_pairs import divide_run

if TYPE_CHECKING:
    from racetrap.verdict.baseline import Baseline


def check_accelerators(
    console: Console, trace: NoncoherentTrace, path: str, settings: Iterable[str], oracle: bool,
    shows_needless: bool, baseline: Baseline | None,
) -> Outcome:  # fmt: skip
    """Run the detector and print the races."""
    with input_errors(path):
        memory, run = memory_with(trace.header.memory, settings, AcceleratorRun())
        detector = Noncoherent(memory, run.mode)
        found = run_compiled(detector, trace.events)
    whole, locations = found.races, trace.header.locations
    by_line = {
        number: replace(
            operation_race(race, locations), make_timeline=partial(timeline_of, race, trace, memory)
        )
        for number, race in enumerate(whole)
        if not race.is_overwritten
    }
    pairs = divide_run(by_line.values(), baseline)
    races = [
        race for number, race in enumerate(whole)
        if race.is_overwritten or by_line[number].places in pairs.new_places
    ]  # fmt: skip
    noncoherent_races.print_races(console, races, trace)
    words = (
        f"Races: {len(races)} in {len(trace)} operations, mode {detector.mode}, lines of "
        f"{memory.line_bytes} bytes, {write_words(asdict(memory))}."
    )
    findings = run_findings(pairs, [words])
    console.print("\n".join(findings.summary), markup=False)
    result: dict[str, Any] = {
        "mode": detector.mode,
        "memory": asdict(memory),
        "layout": trace.header.layout,
        "races": [noncoherent_races.race_to_dict(race, locations) for race in races],
    }
    if oracle:
        from racetrap.golden_model.noncoherent.oracle import racy_bytes

        with input_errors(path):
            racy = racy_bytes(memory, list(trace))
        noncoherent_races.print_oracle(console, racy, found.first, detector.mode)
        result["oracle"] = noncoherent_races.oracle_to_dict(racy, found.first)
    if shows_needless:
        without = without_each(trace, detector, asks_machine=oracle)
        result["without"] = print_without(console, without, locations)
    return Outcome(findings, pairs.known, result)
