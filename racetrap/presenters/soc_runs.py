"""Runs of firmware on an example system: text and JSON."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from racetrap.presenters.line_pairs import number_text
from racetrap.presenters.locations import pc_text
from racetrap.presenters.noncoherent_races import monitor_race_list
from racetrap.presenters.race_choice import RaceChoice
from racetrap.sim.soc.run import SystemRun


def print_soc_run(console: Console, choice: RaceChoice, run: SystemRun) -> dict[str, Any]:
    """Print a run; return it as plain data, without what was asked for.

    Parameters
    ----------
    console : Console
        Where to print.
    choice : RaceChoice
        Which races.
    run : SystemRun
        The run.
    """
    locations = run.trace.header.locations
    for line in run.console.splitlines():
        console.print(f"Console: {line}", markup=False)
    races = monitor_race_list(console, choice, run.trace)
    for race in run.races:
        races.take(race)
    races.finish()
    lines = [
        f"Firmware returned {run.status} after {run.cycles} cycles and {run.instructions} "
        f"instructions; {len(run.trace)} operations, {run.empty_operations} of no bytes, "
        f"{run.lost_operations} lost.",
        f"Races: {number_text(races.count, 'report')} of the monitor.",
    ]
    first = None
    if run.first_wrong is not None:
        pc, operation = run.first_wrong
        place = pc_text(pc, locations) if pc else "by the engine"
        lines.append(
            f"Wrong data: {run.wrong_reads} reads differ from coherent memory, the first "
            f"{'at ' if pc else ''}{place}, after {operation} operations."
        )
        if not run.races:
            lines.append("Wrong data, no race: look at the cache.")
        first = {"pc": pc or None, "location": locations.get(pc), "operation": operation}
    if run.lost_operations:
        lines.append("Operations were lost: races may be missing.")
    console.print("\n".join(lines), markup=False)
    return {
        "status": run.status,
        "console": run.console,
        "cycles": run.cycles,
        "instructions": run.instructions,
        "operations": len(run.trace),
        "empty_operations": run.empty_operations,
        "lost_operations": run.lost_operations,
        "wrong_reads": run.wrong_reads,
        "first_wrong_read": first,
        "races": races.json,
    }
