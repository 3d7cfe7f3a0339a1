"""Statements of the ScoRD paper on its Figures 8 to 11, and whether they hold here.

Ref: ScoRD (ISCA'20) Section V.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any

from racetrap.evaluation.table import Cell, Table

#: Row of the mean over all applications.
MEAN = "mean"
#: Rounding that more memory may cost.
_TOLERANCE = 0.02

_Rows = Mapping[str, Mapping[str, Any]]


def statements_table(figures: Mapping[str, _Rows]) -> Table:
    """Statements on tables that have rows.

    Parameters
    ----------
    figures : mapping of str to mapping
        Numbers by table, row and column.
    """
    return Table(
        "statements", "Statements of the paper, and what is found",
        "Of all applications that ran; on cycles of executions if there are those of all.",
        ("statement", "found", "holds"),
        tuple(
            (statement, found, "yes" if holds else "no")
            for statement, found, holds in _statements(figures)
        ),
    )  # fmt: skip


def _statements(figures: Mapping[str, _Rows]) -> Iterator[tuple[str, Cell, bool]]:
    replayed, executed = (figures.get(name, {}) for name in ("figure-8", "execution"))
    if cycles := executed if executed.keys() >= replayed.keys() else replayed:
        yield from _of_cycles(cycles)
    if rows := figures.get("figure-10"):
        yield from _of_shares(rows)
    if rows := figures.get("figure-11"):
        yield from _of_memories(rows)


def _of_cycles(rows: _Rows) -> Iterator[tuple[str, Cell, bool]]:
    own = {name: row for name, row in rows.items() if name != MEAN}
    mean = fmean(row["ScoRD"] for row in own.values())
    yield "mean slowdown 1.35 (here 1.2 to 1.6)", f"{mean:.3f}", 1.2 <= mean <= 1.6
    helped = sum(row["ScoRD"] < row["base design"] for row in own.values())
    yield (
        "caching of metadata helps everywhere", f"{helped} of {len(own)}", helped == len(own)
    )  # fmt: skip
    worst = sorted(own, key=lambda name: own[name]["ScoRD"], reverse=True)[:2]
    yield "1DC is the slowest (here among two)", ", ".join(worst), "1DC" in worst
    if "1DC" in own:
        found = own["1DC"]["ScoRD"]
        yield "slowdown of 1DC 1.88 (here 1.5 to 2.2)", f"{found:.3f}", 1.5 <= found <= 2.2


def _of_shares(rows: _Rows) -> Iterator[tuple[str, Cell, bool]]:
    for program, cost, is_most in (
        ("UTS", "LHD", False), ("RED", "MD", True), ("R110", "MD", True),
    ):  # fmt: skip
        if program in rows:
            share = rows[program][cost]
            yield (
                f"{program}: {cost} is {'most of it' if is_most else '0'}", f"{share:.1f} %",
                share > 50 if is_most else share == 0,
            )  # fmt: skip


def _of_memories(rows: _Rows) -> Iterator[tuple[str, Cell, bool]]:
    own = [row for name, row in rows.items() if name != MEAN]
    less = sum(row["low"] >= row["default"] >= row["high"] - _TOLERANCE for row in own)
    yield (
        "less overhead with more memory, except 1DC", f"{less} of {len(own)}",
        less >= len(own) - 1,
    )  # fmt: skip
