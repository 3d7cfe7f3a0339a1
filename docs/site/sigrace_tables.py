"""Tables of SigRace from the results: its race detection module by scanners, its rollbacks."""

from __future__ import annotations

from collections.abc import Iterable

from docs.site.history.results import Result
from docs.site.history.sigrace import PACE, POLICIES
from docs.site.kept_tables import NOTHING, KeptTables
from docs.site.markdown import table


def pace_table(name: str, results: Iterable[Result] | None = None) -> str:
    """A kept figure of each program by scanners and decompressors, and the runs.

    Parameters
    ----------
    name : str
        The figure: a column of the table ``pace``.
    results : iterable of Result or None
        The history; that of the checkout by default.
    """
    return _shown(KeptTables(PACE, results), name, "program")


def cost_table(block: str, setting: str, results: Iterable[Result] | None = None) -> str:
    """Kept cost of a block with a changed parameter and any others behind it, and the runs."""
    return _shown(KeptTables(f"{block} of sigrace with ", results), setting, "parameters, target")


def rollback_table(size: str, results: Iterable[Result] | None = None) -> str:
    """Kept figures of the policies of rollback over the programs of a size, and the runs."""
    return _shown(KeptTables(POLICIES, results), size, "policy")


def _shown(kept: KeptTables, name: str, first: str) -> str:
    rows = kept.table(name)
    if not rows:
        return NOTHING
    columns = list(next(iter(rows.values())))
    cells = (
        (label, *("" if value is None else f"{value:,.6g}" for value in row.values()))
        for label, row in rows.items()
    )
    return f"{table((first, *columns), cells)}\n{kept.runs_of(name)}\n"
