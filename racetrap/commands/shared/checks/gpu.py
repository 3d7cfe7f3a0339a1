"""Check of a GPU's runs by the exact analysis or a detector."""

from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from racetrap.commands.shared.checks.outcome import Outcome
from racetrap.commands.shared.checks.subject import Subject
from racetrap.commands.shared.terminal import progress
from racetrap.golden_model.trace import Trace
from racetrap.presenters import gpu_races
from racetrap.presenters.findings import print_findings
from racetrap.presenters.gpu_oracle import oracle_to_dict
from racetrap.presenters.race_choice import RaceChoice
from racetrap.presenters.trace_findings import ending_sentences, trace_check_to_dict, trace_findings
from racetrap.verdict.gpu.trace_check import TraceCheck


def check_gpu(
    console: Console, choice: RaceChoice, trace: Trace, check: TraceCheck, subject: Subject
) -> Outcome:
    """Check all traces and print what was found."""
    # Reports of a detector that does not judge are for programs alone.
    listed = choice if check.rule is None else replace(choice, shows_all=False)
    reports = gpu_races.race_list(console, listed)
    check.add(trace, progress(trace, "Checking", len(trace)), reports.take)
    for other in subject.further_traces():
        check.add(other, found=reports.take)
    failures, remarks = subject.expose(check) if subject.expose else ([], [])
    others = {
        **ending_sentences(check.faults, check.results),
        **({"memory": failures} if subject.expose else {}),
    }
    findings = trace_findings(check, choice, others, remarks)
    ended = {"results": check.results, "faults": check.faults}
    if check.rule is not None:
        print_findings(console, findings, choice)
        document = {
            **ended,
            **trace_check_to_dict(check),
            "exposed_besides": failures,
            "reports": reports.json,
            "oracle": oracle_to_dict(check.detector_runs[0], trace.header.locations),
        }
        return Outcome(findings, check.known, document)
    counters, unique = check.counters, {key for run in check.detector_runs for key in run.unique}
    gpu_races.print_kinds(console, reports)
    console.print(
        f"Reports: {reports.count} ({len(unique)} of different PC and kind) "
        f"in {sum(check.events)} events, {counters['accesses']} accesses "
        f"({counters['unmonitored']} outside the monitored region)."
    )
    console.print(
        "\n".join([*others["faults"], *others["results"], *findings.summary]), markup=False
    )
    document = {
        **ended, "unique": len(unique), "counters": dict(counters), "races": reports.json,
    }  # fmt: skip
    return Outcome(findings, check.known, document)
