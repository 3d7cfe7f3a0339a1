"""Figures 9, 10(c) and 10(d) of the SigRace paper as tables.

Ref: SigRace (ISCA'09) Sections 5.4.2 and 5.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from racetrap.evaluation.sigrace import paper
from racetrap.evaluation.sigrace.caches import CACHE_BYTES, CHOSEN_CACHE, CacheCounts, LineCounts
from racetrap.evaluation.sigrace.means import kinds, mean, of_kind, percent
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.evaluation.table import Cell, Table
from racetrap.golden_model.reenact.cache import LINE_BYTES

_Results = Sequence[ProgramResult]
#: A figure of a program with caches of one size; None: there is nothing to count.
CacheFigure: TypeAlias = Callable[[LineCounts, CacheCounts], float | None]
_MILLION = 1_000_000
_SHARED = "A line has shared data if several threads access it. "


def in_queue(lines: LineCounts, counts: CacheCounts) -> float | None:
    """Fig. 9(a): share of the lost lines whose address is in the queue."""
    return _ratio(counts.queued, counts.lost)


def lost(lines: LineCounts, counts: CacheCounts) -> float | None:
    """Fig. 9(b): lines lost for each million instructions."""
    return per_million(lines, counts.lost)


def still_cached(lines: LineCounts, counts: CacheCounts) -> float | None:
    """Fig. 9(c): share of a displaced block's addresses that only the cache still has."""
    return _ratio(counts.cached, lines.displaced_lines)


def log_kbytes(lines: LineCounts, counts: CacheCounts) -> float | None:
    """Fig. 10(c): log of a processor in an interval."""
    return _kbytes(lines, counts.logged)


def written_kbytes(lines: LineCounts, counts: CacheCounts) -> float | None:
    """Fig. 10(d): what a processor writes back at a checkpoint."""
    return _kbytes(lines, counts.written_back)


def figure_9a(results: _Results) -> Table:
    """Lost lines that are still in the queue."""
    return _by_size(
        "figure-9a",
        "Lost lines whose address is in the BlockHistoryQueue (Fig. 9(a)), in %",
        "Of all displacements and invalidations of lines with shared data, by size of the caches. "
        f"{_SHARED}Or open: those whose address is only in the block that has not ended, with "
        "32 KB, included.",
        results,
        lambda lines, counts: percent(in_queue(lines, counts)),
        paper.LOST_IN_QUEUE_PERCENT,
        {"32 KB, or open": lambda lines: percent(
            _ratio((chosen := lines.caches[CHOSEN_CACHE]).queued + chosen.opened, chosen.lost)
        )},
    )  # fmt: skip


def figure_9b(results: _Results) -> Table:
    """Lost lines."""
    return _by_size(
        "figure-9b",
        "Displacements and invalidations of lines with shared data (Fig. 9(b)), for each million "
        "instructions",
        f"By size of the caches. {_SHARED}Instructions are those of all threads.",
        results,
        lost,
        paper.LOST_PER_MILLION,
    )


def figure_9c(results: _Results) -> Table:
    """Addresses that queues lose and caches have."""
    return _by_size(
        "figure-9c",
        "Addresses of a displaced block that are nowhere else in the queue, but in the cache "
        "(Fig. 9(c)), in %",
        "Of all addresses of lines in the blocks that leave a full queue, by size of the caches.",
        results,
        lambda lines, counts: percent(still_cached(lines, counts)),
        paper.CACHED_PERCENT,
    )


def figure_9d(results: _Results) -> Table:
    """Lines of a block."""
    return _with_means(
        "figure-9d",
        "Addresses of lines in a block (Fig. 9(d))",
        f"Means over the blocks that are not empty. {_SHARED}Blocks: for each million "
        "instructions; a block that a synchronisation ends early holds fewer lines.",
        results,
        {
            "with shared data": shared_lines,
            "all": lambda lines: _ratio(lines.lines, lines.blocks),
            "blocks": lambda lines: per_million(lines, lines.blocks),
        },
        (paper.SHARED_LINES, None, paper.BLOCKS_PER_MILLION),
    )


def shared_lines(lines: LineCounts) -> float | None:
    """Fig. 9(d): addresses of lines with shared data in a block."""
    return _ratio(lines.shared_lines, lines.blocks)


def figure_10c(results: _Results) -> Table:
    """Log between checkpoints."""
    return _by_size(
        "figure-10c",
        "Log of a processor between checkpoints (Fig. 10(c)), in KB",
        "Lines of 64 bytes whose old value memory saves, as a line goes there for the first time "
        "since the last checkpoint; those that the next checkpoint writes back are included. By "
        "size of the caches, of programs that reach a checkpoint.",
        results,
        log_kbytes,
        paper.LOG_KBYTES,
    )


def figure_10d(results: _Results) -> Table:
    """Lines written back at a checkpoint."""
    return _by_size(
        "figure-10d",
        "Dirty lines that a processor writes back at a checkpoint (Fig. 10(d)), in KB",
        "By size of the caches, of programs that reach a checkpoint.",
        results,
        written_kbytes,
        paper.WRITTEN_BACK_KBYTES,
    )


def _by_size(
    name: str, title: str, note: str, results: _Results, figure: CacheFigure, theirs: float,
    more: dict[str, Callable[[LineCounts], float | None]] | None = None,
) -> Table:  # fmt: skip
    """A figure by size of the caches; the paper gives it for the chosen one."""

    def with_size(size: int) -> Callable[[LineCounts], float | None]:
        return lambda lines: figure(lines, lines.caches[size])

    figures = {f"{size >> 10} KB": with_size(size) for size in CACHE_BYTES} | (more or {})
    papers = [theirs if column == f"{CHOSEN_CACHE >> 10} KB" else None for column in figures]
    return _with_means(name, title, note, results, figures, papers)


def _with_means(
    name: str, title: str, note: str, results: _Results,
    figures: dict[str, Callable[[LineCounts], float | None]], theirs: Sequence[float | None],
) -> Table:  # fmt: skip
    """Figures of each program, their means, and the paper's."""
    rows: list[tuple[Cell, ...]] = [
        (result.program, *(figure(result.figures.lines) for figure in figures.values()))
        for result in results
    ]
    groups = {f"Mean of {kind} programs": of_kind(results, kind) for kind in kinds(results)}
    for label, group in (groups | {"Mean of programs": results}).items():
        if group:
            rows.append((label, *(line_mean(group, figure) for figure in figures.values())))
    return Table(name, title, note, ("program", *figures), (*rows, ("Paper", *theirs)))


def line_mean(results: _Results, figure: Callable[[LineCounts], float | None]) -> float | None:
    """Mean of a figure over the programs that have it."""
    return mean(results, lambda result: figure(result.figures.lines))


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def per_million(lines: LineCounts, count: int) -> float | None:
    """A count for each million instructions."""
    return _MILLION * count / lines.instructions if lines.instructions else None


def _kbytes(lines: LineCounts, count: int) -> float | None:
    """KB of a processor in an interval."""
    shares = lines.checkpoints * lines.threads
    return count * LINE_BYTES / 1024 / shares if shares else None
