"""Tables of the evaluation of weak memory, with the paper's figures beside our own.

Ref: Bugaroo Tables II, III and IV, Figures 3 and 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import mean, median

from racetrap.evaluation.bugaroo.exposures import Exposure
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


def make_tables(verdicts: Sequence[Verdict], exposures: Sequence[Exposure] = ()) -> list[Table]:
    """Tables in the order in which they are shown."""
    return [
        _programs(verdicts), _counts(verdicts), _times(exposures),
        _failures(verdicts, exposures), _flushes(exposures), _exposures(exposures),
    ]  # fmt: skip


def _programs(verdicts: Sequence[Verdict]) -> Table:
    return Table(
        "programs", "Programs in variants of their fences: what each lacks, and the oracle's races",
        "Wrong runs and racy runs are of all schedules, sequentially consistent; races and strong "
        "pairs are different pairs of instructions.",
        ("program", "variant", "lacks by PTX", "schedules", "wrong", "racy", "races",
         "strong pairs", "why the oracle differs"),
        tuple(
            (each.program.name, each.variant.name, each.variant.what_lacks, each.schedules,
             each.wrong, each.racy, each.races, each.strong, each.variant.oracle)
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


def _times(exposures: Sequence[Exposure]) -> Table:
    own: dict[object, tuple[Cell, ...]] = {
        (each.program.paper, each.variant.name): tuple(round(1000 * t, 1) for t in each.times)
        for each in exposures
    }
    nothing: tuple[Cell, ...] = (None,) * 3
    rows: list[tuple[Cell, ...]] = [
        (name, *row, row.recomputed, *own.get(_COUNTED[name], nothing))
        for name, row in TIMES.items()
    ]
    overheads = [row.recomputed for row in TIMES.values()]
    rows.append(("mean", None, None, MEAN_OVERHEAD, mean(overheads), *nothing))
    rows.append(("median", None, None, MEDIAN_OVERHEAD, median(overheads), *nothing))
    return Table(
        "table-3", "Table III: what the paper's instrumentation costs",
        "The last column is recomputed from the times of the row, and for the last two rows from "
        "that column: the paper's are ratios of mean and median times, and hotspot's a slip.  Ours "
        "are milliseconds of a run of the small program on the executor, by each memory.",
        ("program", "paper: native s", "paper: instrumented s", "paper: overhead %",
         "overhead by its times %", "sequential ms", "write-buffers ms", "views ms"),
        tuple(rows),
    )  # fmt: skip


def _own_cells(verdict: Verdict) -> tuple[Cell, ...]:
    """Kernel of a variant, what it lacks, and the runs in which the oracle finds a race."""
    kernel = verdict.program.kernel(verdict.variant)
    return kernel, verdict.variant.what_lacks, f"{verdict.racy} of {verdict.schedules}"


def _rates(exposure: Exposure | None) -> tuple[Cell, ...]:
    """Failure rates of a variant by write buffers at each probability, and by views."""
    if exposure is None:
        return (None,) * 5
    return tuple(failing / exposure.runs for failing in (*exposure.held, exposure.views))


def _failures(verdicts: Sequence[Verdict], exposures: Sequence[Exposure]) -> Table:
    exposed = {(each.program.paper, each.variant.table): each for each in exposures}
    own = {
        (each.program.paper, each.variant.table): each for each in verdicts if each.variant.table
    }
    rows = tuple(
        (
            *key,
            *row.rates,
            row.comment,
            *(_own_cells(own[key]) if key in own else (None,) * 3),
            *_rates(exposed.get(key)),
        )
        for key, row in FAILURES.items()
    )
    return Table(
        "table-4", "Table IV: share of runs that fail while stores are held, and what lacks",
        "By PTX's memory model all four versions that the paper calls optimal lack an acquire, "
        "which holding stores cannot show.  Our rates are lower where few blocks meet, and rise "
        "with --grid.",
        ("program", "version", *(f"paper: p={p}" for p in ("1", "0.75", "0.5", "0.25")),
         "paper: comment", "our variant", "lacks by PTX", "racy runs",
         *(f"p={p}" for p in ("1", "0.75", "0.5", "0.25")), "views"),
        rows,
    )  # fmt: skip


def _flushes(exposures: Sequence[Exposure]) -> Table:
    totals: tuple[Counter[int], Counter[int]] = Counter(), Counter()
    counted = set(_COUNTED.values())
    for each in exposures:
        if (each.program.paper, each.variant.name) in counted:
            for total, lengths in zip(totals, each.flushes, strict=True):
                total.update(lengths)
    rows: list[tuple[Cell, ...]] = []
    for row, total in zip(FLUSH_LENGTHS, totals, strict=True):
        share = 100 * total[1] / total.total() if total else None
        bars = " ".join(f"{length}:{count}" for length, count in sorted(total.items()))
        rows.append((*row, share, bars or None))
    return Table(
        "figures-3-4", "Figures 3 and 4: stores in a buffer when it is flushed",
        "The paper prints no numbers of the bars.  Ours are of all programs of Table II; a buffer "
        "belongs to a warp in lockstep, so its stores are those of 32 threads.",
        ("figure", "stores", "paper: length 1 %", "length 1 %", "buffers by length"),
        tuple(rows),
    )  # fmt: skip


def _exposures(exposures: Sequence[Exposure]) -> Table:
    return Table(
        "exposures", "Variants under weak memory: share of runs that fail, and the first by views",
        "Witness: deviations of memory, and preemptions, of that run, shrunk.",
        ("program", "variant", "lacks by PTX", "runs",
         *(f"p={p}" for p in ("1", "0.75", "0.5", "0.25")), "views", "first run", "seconds",
         "witness"),
        tuple(
            (each.program.name, each.variant.name, each.variant.what_lacks, each.runs,
             *_rates(each), each.first,
             None if each.seconds is None else round(each.seconds, 2),
             None if each.witness is None else "{} + {}".format(*each.witness))
            for each in exposures
        ),
    )  # fmt: skip
