"""Results of a campaign: text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console

from racetrap.evaluation.campaign.random_volume import CaseResult
from racetrap.generators.systems import SYSTEMS, system_of
from racetrap.presenters.tables import print_table

#: Results of all cases of each preset.
_Results = Sequence[Sequence[CaseResult]]


def to_json(results: _Results, jobs: int) -> dict[str, Any]:
    """Rows of all presets, and coverage by detector, as plain data.

    Parameters
    ----------
    results : sequence of sequence of CaseResult
        Results of all cases, by preset.
    jobs : int
        Number of concurrent cases.
    """
    systems = _by_system(results)
    return {
        "presets": [_row(cases, jobs) for found in systems.values() for cases in found],
        "coverage": {name: _coverage(found) for name, found in systems.items()},
    }


def print_campaign(console: Console, results: _Results, jobs: int) -> None:
    """Print a table of each detector, and every difference."""
    for name, found in _by_system(results).items():
        rows = [_row(cases, jobs) for cases in found]
        columns = [column.replace("_per_", "/").replace("_", " ") for column in rows[0]]
        title = f"Hardware against golden model, {name}"
        print_table(console, title, columns, [list(row.values()) for row in rows])
        console.print(f"{len(_coverage(found))} functional coverage bins of {name} hit.")
    for result in (result for cases in results for result in cases if result.difference):
        case, preset = result.case, result.case.model.preset
        console.print(
            f"{preset}, case {case.number}: {result.difference}\n  rerun: racetrap campaign "
            f"{preset} --seed {case.seed} --case {case.number}",
            markup=False,
        )


def _by_system(results: _Results) -> dict[str, list[Sequence[CaseResult]]]:
    systems: dict[str, list[Sequence[CaseResult]]] = {system.name: [] for system in SYSTEMS}
    for cases in results:
        systems[system_of(cases[0].case.model.params).name].append(cases)
    return {name: found for name, found in systems.items() if found}


def _row(cases: Sequence[CaseResult], jobs: int) -> dict[str, Any]:
    """Sums over all cases of one preset."""
    case = cases[0].case
    sums = {name: sum(each.counts[name] for each in cases) for name in cases[0].counts}
    unit = case.kind.figures[0]
    seconds = sum(each.seconds for each in cases) / jobs
    return {
        "preset": case.model.preset,
        "cases": len(cases),
        "differences": sum(bool(each.difference) for each in cases),
        **sums,
        f"{unit}_per_cycle": round(sums[unit] / max(sums["cycles"], 1), 3),
        f"{unit}_per_second": round(sums[unit] / seconds),
        "seed": case.seed,
    }


def _coverage(found: Iterable[Sequence[CaseResult]]) -> dict[str, int]:
    """Functional coverage of all cases of a detector together."""
    counts: Counter[str] = Counter()
    for cases in found:
        for result in cases:
            counts.update(result.coverage)
    return dict(sorted(counts.items()))
