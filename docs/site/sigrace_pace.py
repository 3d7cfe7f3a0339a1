"""Tables of SigRace's cores at their own pace, from the results."""

from __future__ import annotations

from collections.abc import Iterable

from docs.site.history.results import Result
from docs.site.history.sigrace import PACE
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
    kept = KeptTables(PACE, results)
    rows = kept.table(name)
    if not rows:
        return NOTHING
    columns = list(next(iter(rows.values())))
    cells = (
        (program, *("" if value is None else f"{value:,.6g}" for value in row.values()))
        for program, row in rows.items()
    )
    return f"{table(('program', *columns), cells)}\n{kept.runs_of(name)}\n"
