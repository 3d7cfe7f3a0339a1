"""The evaluation of SigRace as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from racetrap.evaluation.page import render
from racetrap.evaluation.sigrace.plots import (
    plot_block_sizes,
    plot_configurations,
    plot_messages,
    plot_windows,
)
from racetrap.evaluation.sigrace.report_table import Table, cell_text
from racetrap.evaluation.sigrace.runs import ProgramResult

__all__ = ["html_page"]


def html_page(
    results: Sequence[ProgramResult], tables: Sequence[Table], problems: Sequence[str],
    facts: Mapping[str, object], command: str,
) -> str:  # fmt: skip
    """The page.

    Parameters
    ----------
    results : sequence of ProgramResult
        What the plots show.
    tables : sequence of Table
        What ``make_tables`` made of them.
    problems : sequence of str
        What ``problems`` found.
    facts : mapping of str to object
        How the figures were made: seed, sizes, versions.
    command : str
        The command that makes them again.
    """
    return render(
        Path(__file__).with_name("page.html"),
        {
            "tables": tables,
            "problems": problems,
            "facts": facts,
            "command": command,
            "text": cell_text,
            "plots": {
                "figure-7a": plot_configurations(results),
                "figure-7b": plot_block_sizes(results),
                "figure-8": plot_windows(results),
                "messages": plot_messages(results),
            },
        },
    )
