"""Tables of detectors beside Vortex, from the results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import geometric_mean

from docs.site.history.results import Result
from docs.site.history.vortex import HEAD, ROW
from docs.site.kept_tables import NOTHING, KeptTables
from docs.site.markdown import table
from racetrap.evaluation.scord.overhead_statements import MEAN
from racetrap.evaluation.vortex.detection import DETECTORS
from racetrap.evaluation.vortex.overhead import NAMES
from racetrap.evaluation.vortex.programs import PROGRAMS, Program

_COLUMNS = (*DETECTORS, "exact", "wrong")
#: A name, and the programs whose runs are counted together.
_Group = tuple[str, list[Program]]


def detection_table(results: Iterable[Result] | None = None) -> str:
    """Runs of the micro-benchmarks and of each build of the applications that are reported, racy
    and wrong."""
    kept = KeptTables(HEAD, results)
    rows = [(name, *_counts(kept, programs)) for name, programs in _groups()]
    shown = [row for row in rows if row[1:] != ("",) * len(_COLUMNS)]
    return _with_runs(("program", *_COLUMNS), shown, kept, "programs")


def _groups() -> list[_Group]:
    every = [program for programs in PROGRAMS.values() for program in programs]
    micro = [program for program in every if program.is_micro]
    racy = [program for program in micro if program.is_racy]
    free = [program for program in micro if not program.is_racy]
    return [
        (f"{len(racy)} racy micro-benchmarks", racy),
        (f"{len(free)} race-free micro-benchmarks", free),
        *((str(program), [program]) for program in every if not program.is_micro),
    ]


def _counts(kept: KeptTables, programs: list[Program]) -> list[str]:
    """How many runs of how many, in each column."""
    counts = []
    for column in _COLUMNS:
        count = total = 0
        for program in map(str, programs):
            if (unit := kept.units.get(("programs", program, column))) is not None:
                count += int(kept.rows["programs"][program][column])
                total += int(unit.removeprefix("of "))
        counts.append(f"{count} of {total}" if total else "")
    return counts


def overhead_table(results: Iterable[Result] | None = None) -> str:
    """Cycles more with each detector and memory, and the geometric mean of the slow-downs."""
    kept = KeptTables(HEAD, results)
    found = kept.table("overhead")
    names = [name for name in NAMES if any(name in row for row in found.values())]
    rows = []
    for title, row in found.items():
        values = [row[name] for name in names]
        slowdowns = [1 + value / 100 for value in values if value is not None]
        cells = ("" if value is None else f"{value:.1f}" for value in values)
        rows.append((title, *cells, f"{100 * (geometric_mean(slowdowns) - 1):.1f}"))
    return _with_runs((ROW, *names, MEAN), rows, kept, "overhead")


def _with_runs(
    columns: tuple[str, ...], rows: Sequence[tuple[object, ...]], kept: KeptTables, name: str
) -> str:
    return f"{table(columns, rows)}\n{kept.runs_of(name)}\n" if rows else NOTHING
