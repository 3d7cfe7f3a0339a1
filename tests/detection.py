"""Detection by causality, ScoRD and HiRace in suites of programs, against the exact judge.

``python -m tests.detection [SUITE ...]`` prints the table, with the racy programs that causality
misses and why.  Finished parts are kept, so that the same command continues where it was stopped.
``--only NAME`` runs one program alone; that of a random trace is SEED.NUMBER.

Ref: ScoRD (ISCA'20) Section V; HiRace (SC'24); BARRACUDA (PLDI'17) Section 6.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path

import click
from rich.console import Console

from racetrap.commands.shared import options
from racetrap.commands.shared.ending import ends
from racetrap.commands.shared.long_work import LongWork, Measure
from racetrap.evaluation.kept_results import result_key
from racetrap.evaluation.table import Table
from racetrap.presenters.tables import show_tables
from racetrap.sim.content_cache import content_key
from tests.support.detection.counting import DETECTORS, Part, Row, count_part
from tests.support.detection.suites import SUITES

#: Names in a list of the terminal; the JSON has all.
_NAMED = 20
_COLUMNS = (
    "programs", "detector", "racy", "found", "race-free", "reported", "ordered pairs",
    "strong pairs", "runs",
)  # fmt: skip


@click.command()
@click.argument("suites", metavar="[SUITE]...", nargs=-1, type=options.Choice(list(SUITES)))
@click.option(
    "--detector", "detectors", multiple=True, type=options.Choice(list(DETECTORS)),
    help="Only this one; may be repeated.",
)  # fmt: skip
@options.budget("Traces of each random suite.", 1000)
@click.option("--seed", default=0, show_default=True, help="First seed of random suites.")
@click.option("--only", default="", metavar="NAME", help="Only the program of this name.")
@options.jobs
@options.result
def command(
    suites: tuple[str, ...], detectors: tuple[str, ...], budget: int, seed: int, only: str,
    json_file: str | None,
) -> None:  # fmt: skip
    """Count programs with a report, and reported pairs that the judge finds ordered."""
    work, chosen = LongWork(), detectors or tuple(DETECTORS)
    counted = {
        suite: _measured(work, suite, chosen, budget, seed, only) for suite in suites or SUITES
    }
    table = table_of(counted)
    work.finish(
        lambda console: _show(console, table, counted),
        {
            "traces": budget, "seed": seed,
            "tables": {suite: {name: vars(row) for name, row in rows.items()}
                       for suite, rows in counted.items()},
        },
        json_file,
    )  # fmt: skip


def _measured(
    work: LongWork, suite: str, detectors: tuple[str, ...], budget: int, seed: int, only: str
) -> dict[str, Row]:
    """Rows of a suite by detector, of the parts that are finished."""
    of, part = SUITES[suite], partial(Part, suite, detectors=detectors, only=only)
    total = {name: Row() for name in detectors}
    if of.count is not None:
        starts = range(0, of.count, of.step)
        _add(work, [part(first, min(first + of.step, of.count)) for first in starts], total)
    elif only:
        first = int(only.partition(".")[0])
        _add(work, [part(first, first + 1)], total)
    else:
        first, parts = seed, 1
        while parts and not work.missing:
            after = first + parts * of.step
            _add(work, [part(each, each + of.step) for each in range(first, after, of.step)], total)
            first = after
            # As many more as are needed if they have as many traces as those before.
            runs = total[detectors[0]].runs
            parts = -(-max(budget - runs, 0) * (first - seed) // max(runs * of.step, 1))
    return total


def _add(work: LongWork, parts: Sequence[Part], total: dict[str, Row]) -> None:
    measure = Measure(count_part, _words, key=_key)
    items = {f"{part.suite}, from {part.first} to {part.last}": part for part in parts}
    for rows in work.one_each("Counting", measure, items).values():
        for name, row in rows.items():
            total[name] += row


def _key(function: Callable[[Part], object], part: Part) -> str:
    """Key of a part's rows: of all sources, those of tests included."""
    return content_key(result_key(function, part), _own_sources())


@cache
def _own_sources() -> str:
    return content_key(files=sorted((Path(__file__).parent / "support").rglob("*.py")))


def _words(rows: dict[str, Row]) -> str:
    return "; ".join(
        f"{name} {row.found} of {row.racy}, {row.reported} of {row.race_free}, {row.ordered}"
        for name, row in rows.items()
    )


def table_of(counted: Mapping[str, Mapping[str, Row]]) -> Table:
    """The table of some suites."""
    cells = tuple(
        (suite, name, row.racy, row.found, row.race_free, row.reported, row.ordered, row.strong,
         row.runs)
        for suite, rows in counted.items() for name, row in rows.items()
    )  # fmt: skip
    return Table("detection", "Programs with a report", "", _COLUMNS, cells)


def _show(console: Console, table: Table, counted: Mapping[str, Mapping[str, Row]]) -> None:
    show_tables(console, [table], {})
    for suite, rows in counted.items():
        for name, row in rows.items():
            for line in lists_of(row) if name.startswith("causality") else ():
                console.print(f"{suite}, {name}: {line}", markup=False, highlight=False)


def lists_of(row: Row) -> Iterator[str]:
    """What there is to say of a row beside its figures: names, and what became of races."""
    for title, names in (
        ("missed", row.missed), ("ordered pairs in", row.wrong), ("race-free, reported", row.false),
        ("strong pairs in", row.exempt),
    ):  # fmt: skip
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            yield f"{title}: {', '.join(names[:_NAMED])}{more}"
    if row.outcomes:
        yield "races: " + ", ".join(f"{what} {n}" for what, n in row.outcomes.most_common())


if __name__ == "__main__":
    with ends():
        command()
