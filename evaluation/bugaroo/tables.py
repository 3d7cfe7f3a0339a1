"""Tables of the evaluation of weak memory, the paper's figures beside ours.

Ref: Bugaroo Tables II, III and IV, Figures 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, median

from racetrap.evaluation.bugaroo.published import (
    COUNTS,
    FAILURES,
    FLUSH_LENGTHS,
    MEAN_OVERHEAD,
    MEDIAN_OVERHEAD,
    TIMES,
)
from racetrap.evaluation.bugaroo.verdicts import Verdict
from racetrap.evaluation.table import Cell, Table

__all__ = ["make_tables"]

#: Variant of each row of Table II.
_COUNTED = {
    "cbe_dot_2_fence": ("cbe_dot", "full"),
    "cbe_dot_1_fence": ("cbe_dot", "no_acquire"),
    "ct_octree": ("ct_octree", "no_acquire"),
    "sdk_red": ("sdk_red", "no_acquire"),
    "cub_scan": ("cub_scan", "f1_f2_f3"),
    "kmeans": ("kmeans", "original"),
    "streamcluster": ("streamcluster", "original"),
    "hotspot": ("hotspot", "original"),
}


def make_tables(verdicts: Sequence[Verdict]) -> list[Table]:
    """Tables in the order in which they are shown."""
    return [_programs(verdicts), _counts(verdicts), _times(), _failures(verdicts), _flushes()]


def _lacks(verdict: Verdict) -> str:
    return ", ".join(sorted(verdict.variant.lacks)) or "nothing"


def _programs(verdicts: Sequence[Verdict]) -> Table:
    return Table(
        "programs", "Programs in variants of their fences: what each lacks, and the oracle's races",
        "Wrong runs and racy runs are of all schedules, sequentially consistent; races and strong "
        "pairs are different pairs of instructions.",
        ("program", "variant", "lacks by PTX", "schedules", "wrong", "racy", "races",
         "strong pairs", "why the oracle differs"),
        tuple(
            (each.program.name, each.variant.name, _lacks(each), each.schedules, each.wrong,
             each.racy, each.races, each.strong, each.variant.oracle)
            for each in verdicts
        ),
    )  # fmt: skip


def _counts(verdicts: Sequence[Verdict]) -> Table:
    own = {(each.program.paper, each.variant.name): each.counts for each in verdicts}
    nothing: tuple[Cell, ...] = (None,) * 5
    columns = ("instructions", "fences", "places of fences", "shared stores", "global stores")
    return Table(
        "table-2", "Table II: what the threads of each program execute",
        "Ours are small on purpose, and have the structure of the paper's programs, not their "
        "sizes; places of fences are instructions in the PTX.",
        ("program", *(f"paper: {name}" for name in columns), *columns),
        tuple((name, *row, *own.get(_COUNTED[name], nothing)) for name, row in COUNTS.items()),
    )  # fmt: skip


def _times() -> Table:
    rows: list[tuple[Cell, ...]] = [(name, *row, row.recomputed) for name, row in TIMES.items()]
    overheads = [row.recomputed for row in TIMES.values()]
    rows.append(("mean", None, None, MEAN_OVERHEAD, mean(overheads)))
    rows.append(("median", None, None, MEDIAN_OVERHEAD, median(overheads)))
    return Table(
        "table-3", "Table III: what the paper's instrumentation costs",
        "The last column is recomputed from the times of the row, and for the last two rows from "
        "that column: the paper's are ratios of mean and median times, and hotspot's a slip.",
        ("program", "paper: native s", "paper: instrumented s", "paper: overhead %",
         "overhead by its times %"),
        tuple(rows),
    )  # fmt: skip


def _own_cells(verdict: Verdict) -> tuple[Cell, ...]:
    """Kernel of a variant, what it lacks, and the runs in which the oracle finds a race."""
    kernel = verdict.program.kernel(verdict.variant)
    return kernel, _lacks(verdict), f"{verdict.racy} of {verdict.schedules}"


def _failures(verdicts: Sequence[Verdict]) -> Table:
    own = {
        (each.program.paper, each.variant.table): each for each in verdicts if each.variant.table
    }
    rows = tuple(
        (*key, *row.rates, row.comment, *(_own_cells(own[key]) if key in own else (None,) * 3))
        for key, row in FAILURES.items()
    )
    return Table(
        "table-4", "Table IV: share of runs that fail while stores are held, and what lacks",
        "By PTX's memory model all four versions that the paper calls optimal lack an acquire, "
        "which holding stores cannot show.",
        ("program", "version", *(f"paper: p={p}" for p in ("1", "0.75", "0.5", "0.25")),
         "paper: comment", "our variant", "lacks by PTX", "racy runs"),
        rows,
    )  # fmt: skip


def _flushes() -> Table:
    return Table(
        "figures-3-4", "Figures 3 and 4: stores in a buffer when it is flushed, by the text",
        "The paper prints no numbers of the bars.",
        ("figure", "stores", "paper: length 1 %"),
        tuple(tuple(each) for each in FLUSH_LENGTHS),
    )  # fmt: skip
