"""Races of a GPU's trace: text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rich.console import Console

from racetrap.evaluation.scord.findings import Finding
from racetrap.golden_model.scord.report import race_words
from racetrap.presenters.tables import print_table

__all__ = ["finding_to_dict", "print_findings"]


def finding_to_dict(finding: Finding) -> dict[str, Any]:
    """A finding as plain data."""
    report = finding.report
    return {
        "sequence": report.sequence,
        "address": report.address,
        "pc": report.pc,
        "kind": race_words(report.race),
        "scope": report.race_scope.name.lower(),
        "table_iv": report.table_iv,
        "access": asdict(finding.access),
        "earlier": asdict(finding.earlier),
        "sentence": finding.sentence(),
    }


def print_findings(console: Console, findings: Iterable[Finding]) -> None:
    """Print each race with both accesses, then a table of how many there are of each kind."""
    kinds: Counter[tuple[str, str, str]] = Counter()
    for finding in findings:
        report = finding.report
        kind, scope = race_words(report.race), report.race_scope.name.lower()
        kinds[kind, scope, report.table_iv] += 1
        console.print(
            f"Race {report.sequence}: {kind}, {scope} scope, Table IV ({report.table_iv}), "
            f"address {report.address:#x}, pc {report.pc:#x}\n"
            f"  access:  {finding.access}\n"
            f"  earlier: {finding.earlier}\n"
            f"  {finding.sentence()}\n",
            markup=False,
        )
    if kinds:
        rows = [(*kind, count) for kind, count in sorted(kinds.items())]
        print_table(console, "Races by kind", ["kind", "scope", "Table IV", "races"], rows)
