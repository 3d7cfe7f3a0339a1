"""Figures 7 and 8 of the SigRace paper as tables of numbers.

Ref: SigRace (ISCA'09) Sections 5.2 and 5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from racetrap.evaluation.sigrace.figures import (
    BLOCK_SIZES,
    CHOSEN,
    DEPTHS,
    SETS,
    SYNC,
    configuration_params,
)
from racetrap.evaluation.sigrace.means import kinds, mean, of_kind, percent
from racetrap.evaluation.sigrace.measured import FalsePositives, WindowFigures
from racetrap.evaluation.sigrace.paper import FALSE_POSITIVE_PERCENT, LOST_WINDOW_PERCENT
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.evaluation.table import Table
from racetrap.golden_model.sigrace.params import SigraceParams

_Results = Sequence[ProgramResult]
#: Takes rates out of a result.
RateOf: TypeAlias = Callable[[ProgramResult], FalsePositives]


def figure_7a(results: _Results, params: SigraceParams) -> Table:
    """Mean false-positive rates of the signature configurations."""
    configurations = configuration_params(params)
    bits = {name: each.signature_bits for name, each in configurations.items()}
    bits[SETS] = bits[CHOSEN]
    rows = [
        (name, bits[name], *_means(results, of_configuration(name)),
         FALSE_POSITIVE_PERCENT if name == CHOSEN else None)
        for name in bits
    ]  # fmt: skip
    return Table(
        "figure-7a",
        "False positives by signature configuration (Fig. 7(a)), means over programs",
        "Rate: intersections that are not null though the sets have nothing in common, of all "
        "intersections (three for each unordered pair of blocks). Per pair: pairs with a false "
        "intersection and no true one. Form sets: blocks also end when a set holds its most "
        "upper address portions.",
        ("configuration", "bits", *_rates(results), "paper %"),
        tuple(rows),
    )


def figure_7a_programs(results: _Results) -> Table:
    """False-positive rates of the signature configurations, program by program."""
    return _by_program(
        "figure-7a-programs",
        "False positives by signature configuration, in % of the intersections",
        "configuration",
        results,
        {name: of_configuration(name) for name in results[0].figures.configurations},
    )


def figure_7b(results: _Results) -> Table:
    """Mean false-positive rates by block size."""
    rows = [(_size_text(size), *_means(results, of_size(size))) for size in (*BLOCK_SIZES, SYNC)]
    return Table(
        "figure-7b",
        f"False positives of {CHOSEN} by block size (Fig. 7(b)), means over programs",
        "Sync: blocks end at synchronisations only.",
        ("block", *_rates(results)),
        tuple(rows),
    )


def figure_7b_programs(results: _Results) -> Table:
    """False-positive rates by block size, program by program."""
    return _by_program(
        "figure-7b-programs",
        f"False positives of {CHOSEN} by block size, in % of the intersections",
        "block",
        results,
        {_size_text(size): of_size(size) for size in (*BLOCK_SIZES, SYNC)},
    )


def figure_8(results: _Results, params: SigraceParams) -> Table:
    """Lost detection window, hit rate and comparisons, means over all programs."""
    chosen = params.block_instructions, params.history_depth
    rows = [
        (_size_text(size), depth, *window_means(results, size, depth),
         LOST_WINDOW_PERCENT if (size, depth) == chosen else None)
        for size in BLOCK_SIZES for depth in DEPTHS
    ]  # fmt: skip
    return Table(
        "figure-8",
        "Lost detection window, hit rate, timestamp comparisons (Fig. 8), means over programs",
        "Lost window: share of the checkpoint interval, from its begin to the block before the "
        "oldest entry. A program that takes no checkpoint is one interval. Hits, lost: searches "
        "of a queue that find a predecessor, and those that go through a full queue without "
        "one; the others meet a queue that is not full yet.",
        ("block", "entries", "lost window %", "hits %", "lost %", "comparisons of a search",
         "paper: lost window %"),
        tuple(rows),
    )  # fmt: skip


def window_means(results: _Results, size: int, depth: int) -> tuple[float | None, ...]:
    """Lost window, hits and lost searches in percent, and comparisons of a search."""

    def over_programs(figure: Callable[[WindowFigures], float]) -> float | None:
        return mean(results, lambda result: figure(result.figures.windows[size, depth]))

    return (
        percent(over_programs(lambda figures: figures.lost_window)),
        percent(over_programs(lambda figures: figures.hit_rate)),
        percent(over_programs(lambda figures: figures.lost_rate)),
        over_programs(lambda figures: figures.comparisons_per_search),
    )


def of_configuration(name: str) -> RateOf:
    """Takes the rates of a configuration out of a result."""
    return lambda result: result.figures.configurations[name]


def of_size(size: int | str) -> RateOf:
    """Takes the rates of a block size out of a result."""
    return lambda result: result.figures.block_sizes[size]


def _size_text(size: int | str) -> str:
    return f"{size:,}" if isinstance(size, int) else size


def _rates(results: _Results) -> list[str]:
    return [f"{kind}{rate} %" for rate in ("", ", per pair") for kind in kinds(results)]


def _means(results: _Results, figure: RateOf) -> tuple[float | None, ...]:
    """Rates, and rates per pair, of the programs of each kind."""
    groups = [of_kind(results, kind) for kind in kinds(results)]
    rates = [mean(group, lambda result: figure(result).rate) for group in groups]
    rates += [mean(group, lambda result: figure(result).pair_rate) for group in groups]
    return tuple(map(percent, rates))


def _by_program(
    name: str, title: str, what: str, results: _Results, figures: Mapping[str, RateOf]
) -> Table:
    rows = [
        (label, *(percent(figure(result).rate) for result in results))
        for label, figure in figures.items()
    ]
    return Table(name, title, "", (what, *(result.program for result in results)), tuple(rows))
