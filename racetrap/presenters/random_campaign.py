"""Random volume through hardware and golden model, of whichever detector a preset is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rich.console import Console

from racetrap.evaluation.campaign import scord, sigrace
from racetrap.evaluation.campaign.cases import Case, run_cases
from racetrap.generators.presets import PRESETS, Preset, find_preset
from racetrap.generators.system import Params
from racetrap.generators.systems import system_of
from racetrap.presenters.output import print_table
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.tb.coverage import BinCounts
from racetrap.tb.scord.coverage import Coverage as ScordCoverage
from racetrap.tb.sigrace.coverage import Coverage as SigraceCoverage

__all__ = ["SYSTEMS", "choose_presets", "compare_volume", "report_volume", "run_one"]

#: Result of a case of either system.
_Result = scord.CaseResult | sigrace.CaseResult


@dataclass(frozen=True)
class _System:
    """How a detector is run.

    Parameters
    ----------
    random_name : str
        Prefix of the names of its random configurations.
    run_case : callable
        Runs a case.
    make_coverage : callable
        Makes its functional coverage from parameters.
    figures : tuple of str
        What a result counts besides cycles, the volume first.
    """

    random_name: str
    run_case: Callable[[Case[Any], Any], _Result]
    make_coverage: Callable[[Any], BinCounts]
    figures: tuple[str, ...]


#: Detectors by name.
SYSTEMS: Mapping[str, _System] = MappingProxyType({
    "scord": _System("random", scord.run_case, ScordCoverage, ("accesses", "races")),
    "sigrace": _System(
        "sigrace-random", sigrace.run_case, SigraceCoverage, ("events", "messages", "conflicts")
    ),
})  # fmt: skip


def choose_presets(
    name: str | None, system: str | None, configurations: int | None
) -> list[Preset[Params]]:
    """One preset, or all presets or some random configurations of one system or of all.

    Raises
    ------
    ValueError
        If there is no such preset, or a preset is asked for together with others.
    """
    if name is not None:
        for option, value in (("configurations", configurations), ("system", system)):
            if value is not None:
                raise ValueError(f"Option --{option} must come without --preset")
        return [find_preset(name)]
    systems = list(SYSTEMS) if system is None else [system]
    if configurations is not None:
        return [
            find_preset(f"{SYSTEMS[one].random_name}-{number + 1}")
            for one in systems
            for number in range(configurations)
        ]
    return [preset for preset in PRESETS.values() if system_of(preset.params).name in systems]


def run_one(model: FastModel[Any], seed: int, number: int) -> _Result:
    """Run one case in this process."""
    system = SYSTEMS[system_of(model.params).name]
    return system.run_case(Case(model, seed, number), system.make_coverage)


def compare_volume(
    model: FastModel[Any], volume: int, seed: int, pool: Executor, width: int
) -> Iterator[_Result]:
    """Run cases until so much has been compared, or one differs; ``width`` at the same time."""
    system = SYSTEMS[system_of(model.params).name]
    return run_cases(
        system.run_case, model, seed=seed, volume=volume, pool=pool, width=width,
        make_observer=system.make_coverage,
    )  # fmt: skip


def report_volume(
    console: Console, everything: Sequence[Sequence[_Result]], workers: int
) -> tuple[dict[str, Any], bool]:
    """Print a table of each system, and the differences.

    Parameters
    ----------
    console : Console
        Where to print.
    everything : sequence of sequence of CaseResult
        Results of all cases, by preset.
    workers : int
        Cases that ran at the same time.

    Returns
    -------
    dict, bool
        The same for JSON, and whether there are differences.
    """
    rows: list[dict[str, Any]] = []
    coverage: dict[str, dict[str, int]] = {}
    for name in SYSTEMS:
        of_system = [
            results
            for results in everything
            if system_of(results[0].case.model.params).name == name
        ]
        if of_system:
            found = [_summary(name, results, workers) for results in of_system]
            coverage[name] = _coverage(of_system)
            _print_system(console, name, found, len(coverage[name]))
            rows += found
    results = [result for results in everything for result in results]
    for result in results:
        if result.difference:
            console.print(_difference(result), markup=False)
    return {"presets": rows, "coverage": coverage}, any(result.difference for result in results)


def _summary(name: str, results: Sequence[_Result], workers: int) -> dict[str, Any]:
    """The table's row of one preset."""
    figures = SYSTEMS[name].figures
    sums = {figure: sum(getattr(result, figure) for result in results) for figure in figures}
    volume, cycles = sums[figures[0]], sum(result.cycles for result in results)
    seconds = sum(result.seconds for result in results) / workers
    return {
        "preset": results[0].case.model.preset,
        "cases": len(results),
        "differences": sum(bool(result.difference) for result in results),
        **sums,
        "cycles": cycles,
        f"{figures[0]}_per_cycle": round(volume / max(cycles, 1), 3),
        f"{figures[0]}_per_second": round(volume / seconds),
        "seed": results[0].case.seed,
    }


def _coverage(everything: Sequence[Sequence[_Result]]) -> dict[str, int]:
    """Functional coverage of all cases of a system together."""
    counts: Counter[str] = Counter()
    for result in (result for results in everything for result in results):
        if isinstance(result.observer, BinCounts):
            counts.update(result.observer.to_json())
    return dict(sorted(counts.items()))


def _print_system(
    console: Console, name: str, rows: Sequence[Mapping[str, Any]], bins: int
) -> None:
    columns = [column.replace("_per_", "/").replace("_", " ") for column in rows[0]]
    title = f"Hardware against golden model, {name}"
    print_table(console, title, columns, [list(row.values()) for row in rows])
    console.print(f"{bins} functional coverage bins of {name} hit.")


def _difference(result: _Result) -> str:
    case, preset = result.case, result.case.model.preset
    return (
        f"{preset}, case {case.number}: {result.difference}\n  rerun: racetrap campaign "
        f"--preset {preset} --seed {case.seed} --case {case.number}"
    )
