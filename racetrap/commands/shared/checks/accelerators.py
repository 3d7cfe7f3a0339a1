"""Check of a CPU and its accelerators."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from rich.console import Console

from racetrap.commands.shared.checks.outcome import Outcome, line_findings
from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.trace import NoncoherentTrace
from racetrap.presenters import noncoherent_races
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.verdict.accelerators.line_races import operation_race

if TYPE_CHECKING:
    from racetrap.verdict.baseline import Baseline


def check_accelerators(
    console: Console, trace: NoncoherentTrace, detector: Noncoherent, oracle: bool,
    baseline: Baseline | None,
) -> Outcome:  # fmt: skip
    """Run the detector and print the races."""
    found = run_compiled(detector, trace.events)
    whole, memory, locations = found.races, detector.memory, trace.header.locations
    findings, known, is_new = line_findings(
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

        racy = racy_bytes(memory, list(trace))
        noncoherent_races.print_oracle(console, racy, found.first, detector.mode)
        result["oracle"] = noncoherent_races.oracle_to_dict(racy, found.first)
    return Outcome(replace(findings, summary=summary), known, result)
