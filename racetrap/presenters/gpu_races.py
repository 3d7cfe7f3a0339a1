"""Races of a GPU's trace: text and JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from rich.console import Console

from racetrap.golden_model.gpu.report import RingReport
from racetrap.presenters.line_pairs import number_text
from racetrap.presenters.race_choice import RaceChoice, RaceList, instances_text
from racetrap.presenters.tables import print_table
from racetrap.verdict.gpu.findings import Finding


def finding_to_dict(finding: Finding) -> dict[str, Any]:
    """A finding as plain data."""
    report = finding.report
    place, rule = report.rule
    return {
        "sequence": report.sequence,
        "address": report.address,
        "pc": report.pc,
        "kind": report.kind_words,
        "scope": report.race_scope.name.lower(),
        place.lower().replace(" ", "_"): rule,
        "access": asdict(finding.access),
        "earlier": asdict(finding.earlier),
        "sentence": finding.sentence(),
    }


def race_list(console: Console, choice: RaceChoice) -> RaceList[Finding]:
    """Races to be printed with both accesses, grouped by PC and kind."""

    def show(number: int, finding: Finding, count: int) -> None:
        report = finding.report
        kind, scope = report.kind_words, report.race_scope.name.lower()
        place, rule = report.rule
        console.print(
            f"Race {report.sequence}: {kind}, {scope} scope, {place} ({rule}), "
            f"address {report.address:#x}, pc {report.pc:#x}{instances_text(count)}\n"
            f"  access:  {finding.access}\n"
            f"  earlier: {finding.earlier}\n"
            f"  {finding.sentence()}\n",
            markup=False,
        )

    return RaceList(console, choice, lambda finding: _key(finding.report), show, finding_to_dict)


def _key(report: RingReport) -> tuple[int, int, int, str]:
    return report.pc, report.race, report.race_scope, report.rule[1]


def left_out_sentence(name: str, accesses: int) -> str:
    """Sentence on accesses that the access buffers skipped."""
    return (
        f"Detector {name} did not check {number_text(accesses, 'access')} that its access buffers "
        "dropped or did not sample; their races are not counted."
    )


def print_kinds(console: Console, races: RaceList[Finding]) -> None:
    """Finish the list, and print a table of the number of races of each kind."""
    races.finish()
    kinds: Counter[tuple[str, str, str]] = Counter()
    for group in races.groups.values():
        report = group.first.report
        place, rule = report.rule
        kinds[report.kind_words, report.race_scope.name.lower(), rule] += group.count
    if kinds:
        rows = [(*kind, count) for kind, count in sorted(kinds.items())]
        print_table(console, "Races by kind", ["kind", "scope", place, "races"], rows)
