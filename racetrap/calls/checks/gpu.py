"""Check of a GPU's runs by the exact analysis or a detector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from racetrap.calls.checks.subject import Outcome, Subject
from racetrap.commands.shared.terminal import input_errors, progress
from racetrap.generators.presets import chosen_params
from racetrap.golden_model.trace import Trace
from racetrap.presenters import gpu_races
from racetrap.presenters.findings import print_findings
from racetrap.presenters.gpu_oracle import oracle_to_dict
from racetrap.presenters.race_choice import RaceChoice, RaceList
from racetrap.presenters.trace_findings import ending_sentences, trace_check_to_dict, trace_findings
from racetrap.verdict.gpu.trace_check import MOST_FINDING, Detector, TraceCheck

if TYPE_CHECKING:
    from racetrap.verdict.baseline import Baseline
    from racetrap.verdict.gpu.findings import Finding


def check_gpu(
    console: Console, choice: RaceChoice, subject: Subject, path: str, preset: str | None,
    settings: Sequence[str], rule: str | None, baseline: Baseline | None,
) -> Outcome:  # fmt: skip
    """Check all traces by a rule of the oracle, or by the detector if there is none, and print the
    findings."""
    with input_errors():
        name = preset or MOST_FINDING
        (params,) = chosen_params(name, settings, Trace)
    reports = None
    if rule is None or choice.has_json:
        # Reports of a detector that does not judge go to JSON only.
        listed = choice if rule is None else replace(choice, shows_all=False)
        reports = gpu_races.race_list(console, listed)
    detector: Detector | None = Detector(name, params, bool(preset or settings))
    if rule is not None and not (preset or settings) and _trace(subject).has_clusters:
        detector = None
    check = TraceCheck(baseline, rule, detector, Path(path).parent)
    with input_errors(path):
        _add(check, subject, reports)
        outcome = _outcome(console, choice, subject, check, reports)
    chosen = {"preset": name, "parameters": asdict(params)}
    return outcome._replace(document={**chosen, **outcome.document})


def _add(check: TraceCheck, subject: Subject, reports: RaceList[Finding] | None) -> None:
    found = (lambda finding: None) if reports is None else reports.take
    trace = _trace(subject)
    check.add(trace, progress(trace, "Checking", len(trace)), found)
    for other in subject.further_traces(check):
        check.add(other, found=found)


def _trace(subject: Subject) -> Trace:
    assert isinstance(subject.first, Trace)
    return subject.first


def _outcome(
    console: Console, choice: RaceChoice, subject: Subject, check: TraceCheck,
    reports: RaceList[Finding] | None,
) -> Outcome:  # fmt: skip
    failures, remarks = subject.expose(check) if subject.expose else ([], [])
    others = {
        **ending_sentences(check.faults, check.outside, check.results),
        **({"memory": failures} if subject.expose else {}),
    }
    remarks = [*remarks, *(subject.cure(check) if subject.cure else [])]
    if check.detector is None:
        remarks.append("Detector: none, as the launch has clusters of several blocks.")
    findings = trace_findings(check, choice, others, remarks)
    ended = {"results": check.results, "faults": check.faults, "outside": check.outside}
    if check.rule is not None:
        print_findings(console, findings, choice)
        document = {
            **ended,
            **trace_check_to_dict(check),
            "exposed_besides": failures,
            "reports": reports and reports.json,
            "oracle": (
                oracle_to_dict(check.detector_runs[0], subject.first.header.locations)
                if check.detector_runs
                else None
            ),
        }
        return Outcome(findings, check.known, document)
    assert reports is not None
    counters, unique = check.counters, {key for run in check.detector_runs for key in run.unique}
    gpu_races.print_kinds(console, reports)
    console.print(
        f"Reports: {reports.count} ({len(unique)} of different PC and kind) "
        f"in {sum(check.events)} events, {counters['accesses']} accesses "
        f"({counters['unmonitored']} outside the monitored region)."
    )
    console.print(
        "\n".join(
            [
                *findings.opening,
                *others["faults"],
                *others["outside"],
                *others["results"],
                *findings.summary,
                *([*findings.notes] if choice.shows_notes else []),
            ]
        ),
        markup=False,
    )
    document = {
        **ended, "unique": len(unique), "counters": dict(counters), "races": reports.json,
    }  # fmt: skip
    return Outcome(findings, check.known, document)
