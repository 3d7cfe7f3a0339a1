"""Figures 7 to 10 of the SigRace paper as SVG text.

Ref: SigRace (ISCA'09) Sections 5.2 to 5.5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from racetrap.evaluation.plots import grouped_bars, legend_above, svg_text
from racetrap.evaluation.sigrace.caches import CACHE_BYTES, CHOSEN_CACHE
from racetrap.evaluation.sigrace.figure_tables import (
    RateOf,
    of_configuration,
    of_size,
    window_means,
)
from racetrap.evaluation.sigrace.figures import BLOCK_SIZES, CHOSEN, DEPTHS, SYNC
from racetrap.evaluation.sigrace.line_tables import (
    CacheFigure,
    in_queue,
    line_mean,
    log_kbytes,
    lost,
    shared_lines,
    still_cached,
    written_kbytes,
)
from racetrap.evaluation.sigrace.means import kinds, mean, of_kind, percent
from racetrap.evaluation.sigrace.paper import (
    BYTES_PER_1000_INSTRUCTIONS,
    CACHED_PERCENT,
    FALSE_POSITIVE_PERCENT,
    INSTRUCTION_OVERHEAD_PERCENT,
    LOG_KBYTES,
    LOST_IN_QUEUE_PERCENT,
    LOST_PER_MILLION,
    LOST_WINDOW_PERCENT,
    SHARED_LINES,
    WRITTEN_BACK_KBYTES,
)
from racetrap.evaluation.sigrace.policies import PAPERS, RING_DEPTHS, ring_name
from racetrap.evaluation.sigrace.policy_tables import policy_mean, until_first_race, whole_run
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.golden_model.sigrace.params import Form

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDE, _PANELS = (9.0, 3.6), (9.0, 3.4)
#: Entries for which the paper gives the lost window.
_PAPER_DEPTH = 16
_Results = Sequence[ProgramResult]


def plot_configurations(results: _Results) -> str:
    """Fig. 7(a): mean false-positive rate by signature configuration."""
    names = list(results[0].figures.configurations)
    return _rates(results, {name.replace(", ", ",\n"): of_configuration(name) for name in names})


def plot_block_sizes(results: _Results) -> str:
    """Fig. 7(b): mean false-positive rate by block size."""
    return _rates(results, {str(size): of_size(size) for size in (*BLOCK_SIZES, SYNC)})


def plot_windows(results: _Results) -> str:
    """Fig. 8: lost window, hit rate and comparisons by entries of a queue."""
    titles = ("(a) lost window %", "(b) hit rate %", "", "(c) comparisons")

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 3)
        place = DEPTHS.index(_PAPER_DEPTH)
        panels[0].plot(place, LOST_WINDOW_PERCENT, "kx", label="paper, blocks of 2,000")
        for axes, column in zip(panels, (0, 1, 3), strict=True):
            for size in BLOCK_SIZES:
                points = [window_means(results, size, depth)[column] for depth in DEPTHS]
                axes.plot(
                    range(len(DEPTHS)),
                    points,
                    marker="o",
                    markersize=3,
                    label=f"blocks of {size:,}",
                )
            axes.set_xticks(range(len(DEPTHS)), DEPTHS)
            axes.set_xlabel("entries")
            axes.set_ylim(bottom=0)
            axes.set_title(titles[column], fontsize=10)
        legend_above(figure, panels[0])

    return svg_text(_PANELS, draw)


def plot_lost_lines(results: _Results) -> str:
    """Fig. 9(a) to 9(c): what caches and queues lose, by size of the caches."""
    panels: dict[str, tuple[CacheFigure, float, float]] = {
        "(a) lost lines in the queue %": (in_queue, 100, LOST_IN_QUEUE_PERCENT),
        "(b) lines lost": (lost, 1, LOST_PER_MILLION),
        "(c) addresses in the cache %": (still_cached, 100, CACHED_PERCENT),
    }
    groups = {kind: group for kind in kinds(results) if (group := of_kind(results, kind))}

    def draw(figure: Figure) -> None:
        drawn = figure.subplots(1, len(panels))
        for axes, (title, (value, scale, theirs)) in zip(drawn, panels.items(), strict=True):
            axes.plot(CACHE_BYTES.index(CHOSEN_CACHE), theirs, "kx", label="paper, mean")
            for kind, group in groups.items():
                points = [_cache_mean(group, value, size) * scale for size in CACHE_BYTES]
                axes.plot(points, marker="o", markersize=3, label=f"{kind} programs")
            axes.set_xticks(range(len(CACHE_BYTES)), [size >> 10 for size in CACHE_BYTES])
            axes.set_xlabel("KB of a cache")
            axes.set_ylim(bottom=0)
            axes.set_title(title, fontsize=10)
        legend_above(figure, drawn[0])

    return svg_text(_PANELS, draw)


def _cache_mean(group: _Results, figure: CacheFigure, size: int) -> float:
    return line_mean(group, lambda lines: figure(lines, lines.caches[size])) or 0.0


def plot_shared_lines(results: _Results) -> str:
    """Fig. 9(d): lines with shared data in a block."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        values = [shared_lines(result.figures.lines) or 0.0 for result in results]
        _bars(axes, [result.program for result in results], {"our programs": values})
        axes.set_ylabel("lines with shared data")
        _paper_line(axes, SHARED_LINES, "paper, mean")
        legend_above(figure, axes)

    return svg_text(_WIDE, draw)


def plot_log(results: _Results) -> str:
    """Fig. 10(c): log of a processor between checkpoints."""
    return _at_checkpoints(results, log_kbytes, LOG_KBYTES, "KB of log")


def plot_written_back(results: _Results) -> str:
    """Fig. 10(d): what a processor writes back at a checkpoint."""
    return _at_checkpoints(results, written_kbytes, WRITTEN_BACK_KBYTES, "KB written back")


def _at_checkpoints(results: _Results, value: CacheFigure, theirs: float, label: str) -> str:
    """Bars of the programs that reach a checkpoint, if one does."""
    chosen = [result for result in results if result.figures.lines.checkpoints]
    series = {
        f"{size >> 10} KB": [_cache_mean([result], value, size) for result in chosen]
        for size in CACHE_BYTES
    }

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        _bars(axes, [result.program for result in chosen], series)
        axes.set_ylabel(label)
        _paper_line(axes, theirs, f"paper, {CHOSEN_CACHE >> 10} KB, mean")
        legend_above(figure, axes)

    return svg_text(_WIDE, draw) if chosen else ""


def plot_policies(results: _Results) -> str:
    """Fig. 10(a): mean overhead without address rings, and with rings by their entries."""
    names = [PAPERS, *map(ring_name, RING_DEPTHS)]
    figures = {"until the first race": until_first_race, "whole run": whole_run}

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for label, each in figures.items():
            points = [percent(policy_mean(results, name, each)) or 0.0 for name in names]
            axes.plot(range(len(names)), points, marker="o", markersize=3, label=label)
        axes.set_yscale("symlog", linthresh=1)
        axes.set_xticks(range(len(names)), ["no ring", *map(str, RING_DEPTHS)])
        axes.set_xlabel("entries of a ring")
        axes.set_ylabel("executed again %")
        axes.set_ylim(bottom=0)
        _paper_line(axes, INSTRUCTION_OVERHEAD_PERCENT, "paper, until the first race")
        legend_above(figure, axes)

    return svg_text(_WIDE, draw)


def plot_messages(results: _Results) -> str:
    """Fig. 10(b): message bytes for each 1,000 instructions."""
    series = {
        f"form {form}": [each.figures.messages[form].per_1000_instructions for each in results]
        for form in (Form.SETS, Form.HASHED)
    }

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        _bars(axes, [result.program for result in results], series)
        axes.set_ylabel("bytes for 1,000 instructions")
        _paper_line(axes, BYTES_PER_1000_INSTRUCTIONS, "paper, mean")
        legend_above(figure, axes)

    return svg_text(_WIDE, draw)


def _rates(results: _Results, figures: Mapping[str, RateOf]) -> str:
    """Mean rates of the programs of each kind, in percent."""
    series = {
        f"{kind} programs": [_mean_rate(group, figure) for figure in figures.values()]
        for kind in kinds(results)
        if (group := of_kind(results, kind))
    }

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        _bars(axes, list(figures), series)
        axes.set_ylabel("false positives %")
        _paper_line(axes, FALSE_POSITIVE_PERCENT, f"paper, {CHOSEN}")
        legend_above(figure, axes)

    return svg_text(_WIDE, draw)


def _mean_rate(group: _Results, figure: RateOf) -> float:
    return percent(mean(group, lambda result: figure(result).rate)) or 0.0


def _paper_line(axes: Axes, value: float, label: str) -> None:
    axes.axhline(value, label=label, color="#555", linestyle="--", linewidth=1)


def _bars(axes: Axes, labels: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    """Grouped bars with long labels."""
    grouped_bars(axes, labels, series)
    axes.tick_params("x", rotation=60, labelsize=8)
