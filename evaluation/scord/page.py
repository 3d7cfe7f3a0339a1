"""The evaluation as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from racetrap.evaluation.page import render
from racetrap.evaluation.scord.paper import MICRO_BENCHMARKS_ROW
from racetrap.evaluation.scord.plots import plot_false_races, plot_races
from racetrap.evaluation.scord.tables import Tables

__all__ = ["html_page"]


def html_page(tables: Tables, facts: Mapping[str, object], command: str) -> str:
    """The page.

    Parameters
    ----------
    tables : Tables
        What to show.
    facts : mapping of str to object
        How the figures were made: seed, schedules, versions.
    command : str
        The command that makes them again.
    """
    values = {
        "tables": tables,
        "facts": facts,
        "command": command,
        "micro": MICRO_BENCHMARKS_ROW,
        "races_plot": plot_races(tables.races[:-1]),
        "false_plot": plot_false_races(tables.false_races),
    }
    return render(Path(__file__).with_name("page.html"), values)
