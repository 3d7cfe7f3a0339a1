"""Figures 7 to 10 and Table 7 of the SigRace paper from our own runs: JSON, page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from racetrap.evaluation.sigrace.plots import (
    plot_block_sizes,
    plot_configurations,
    plot_log,
    plot_lost_lines,
    plot_messages,
    plot_policies,
    plot_shared_lines,
    plot_windows,
    plot_written_back,
)
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.evaluation.sigrace.tables import problems
from racetrap.evaluation.table import Table, tables_to_json
from racetrap.presenters.page import Section, html_page
from racetrap.schemas.evaluations import ThreadVerdictDocument
from racetrap.schemas.values import document


def to_json(results: Sequence[ProgramResult], tables: Sequence[Table]) -> dict[str, Any]:
    """Everything as plain data; ``tables`` are those of ``make_tables``."""
    return {
        "tables": tables_to_json(tables),
        "injected": {
            result.program: [asdict(run) for run in result.injected] for result in results
        },
        "verdicts": [
            document(ThreadVerdictDocument, result.verdict)
            for result in results
            if result.verdict is not None
        ],
        "problems": problems(results),
    }


def page_of(
    results: Sequence[ProgramResult], tables: Sequence[Table], facts: Mapping[str, object],
    command: str,
) -> str:  # fmt: skip
    """The page; ``facts`` say how the figures were made, ``command`` makes them again."""
    plots = {
        "figure-7a": plot_configurations,
        "figure-7b": plot_block_sizes,
        "figure-8": plot_windows,
        "figure-9a": plot_lost_lines,
        "figure-9d": plot_shared_lines,
        "policies": plot_policies,
        "messages": plot_messages,
        "figure-10c": plot_log,
        "figure-10d": plot_written_back,
    }
    return html_page(
        "SigRace on programs with threads",
        "The programs are recorded runs with threads: of our own kernels with 8, or files. The "
        "oracle finds all races of a recording; SigRace, Ideal SigRace (queues without limit) and "
        "W-ReEnact (timestamps in 32-Kbyte caches) analyse the same recording.",
        [
            Section(table, plots[table.name](results) if table.name in plots else "")
            for table in tables
        ],
        command=command,
        facts=facts,
        problems=problems(results),
    )
