"""The thesis' figures and table from our own runs with accelerators: JSON, page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from racetrap.evaluation.noncoherent.tables import Evaluation, problems
from racetrap.evaluation.table import Table, tables_to_json
from racetrap.presenters.page import Section, html_page


def to_json(found: Evaluation, tables: Sequence[Table]) -> dict[str, Any]:
    """Everything as plain data; ``tables`` are those of ``make_tables``."""
    return {
        "tables": tables_to_json(tables),
        "cases": [
            asdict(case) | {"is_harmful": case.is_harmful, "explanation": case.explanation}
            for case in found.cases
        ],
        "problems": problems(found),
    }


def page_of(
    found: Evaluation, tables: Sequence[Table], facts: Mapping[str, object], command: str
) -> str:
    """The page; ``facts`` say how the figures were made, ``command`` makes them again."""
    return html_page(
        "Races with non-coherent accelerators",
        "Our own programs have the memory structure of the thesis' eleven and of firmware. Each "
        "is recorded and checked by both modes, explored by the exhaustive machine, and run under "
        "random timings of DMA and write-backs.",
        [Section(table) for table in tables],
        command=command,
        facts=facts,
        problems=problems(found),
    )
