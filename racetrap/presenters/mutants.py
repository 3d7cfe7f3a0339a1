"""Mutants: JSON and page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from racetrap.evaluation.mutants.run import MutantResult
from racetrap.evaluation.table import Table
from racetrap.presenters.page import Section, html_page


def mutants_to_json(results: Sequence[MutantResult]) -> list[dict[str, Any]]:
    """All mutants as plain data."""
    return [
        {
            "number": result.mutant.number,
            "block": result.mutant.block,
            "change": result.mutant.change,
            "outcome": result.outcome.value,
            "case": result.case,
            "reason": result.reason,
        }
        for result in results
    ]


def page_of(
    tables: Sequence[Table], results: Sequence[MutantResult], facts: Mapping[str, object],
    command: str, problems: Sequence[str],
) -> str:  # fmt: skip
    """The page; ``command`` makes it again."""
    blocks, *others = tables
    details: dict[str, list[str]] = {}
    for each in results:
        what = f"{each.mutant.change}: {each.outcome.value}, {each.reason}"
        details.setdefault(each.mutant.block, []).append(what)
    return html_page(
        "Mutants of the generated Verilog",
        "Each mutant changes one bit of one block. It is killed by the first case of the campaign, "
        "or the first bench of a block, in which hardware and golden model differ, or by a case "
        "that takes other cycles than it must.",
        [Section(blocks, details=details), *map(Section, others)],
        command=command, facts=facts, problems=problems,
    )  # fmt: skip
