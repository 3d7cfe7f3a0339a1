"""BARRACUDA's table and figures from our own runs: the page."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from racetrap.evaluation.barracuda.measure import Measured
from racetrap.evaluation.barracuda.plots import plot_instrumented, plot_overhead
from racetrap.evaluation.table import Table
from racetrap.presenters.page import Section, html_page


def page_of(
    measured: Collection[Measured], tables: Sequence[Table], problems: Sequence[str],
    facts: Mapping[str, object], command: str,
) -> str:  # fmt: skip
    """The page; ``facts`` say how the figures were made, ``command`` makes them again."""
    plots = {}
    if measured:
        plots = {"figure-9": plot_instrumented(measured), "figure-10": plot_overhead(measured)}
    return html_page(
        "BARRACUDA's evaluation",
        "CUB's own code and miniatures of the same structure stand in for the paper's programs. "
        "Each runs in several schedules on the executor, its warps in lockstep.",
        [Section(table, plots.get(table.name, "")) for table in tables],
        command=command,
        facts=facts,
        limits=(
            "The paper's overheads are over runs on a GPU, ours over runs on the executor.",
            "The instructions and threads of miniatures are fewer than the paper's.",
        ),
        problems=problems,
    )
