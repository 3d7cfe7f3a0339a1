"""`racetrap check` of a trace of a GPU, or of a run of a kernel, with ScoRD."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from racetrap.evaluation.scord.truth import truths
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import Trace
from racetrap.presenters.output import fail, progress, report_console
from racetrap.presenters.scord_oracle import print_truths, truths_to_dict
from racetrap.presenters.scord_races import (
    Finding,
    check_geometry,
    find_races,
    finding_to_dict,
    print_findings,
    region_of,
)

__all__ = ["check_gpu_trace"]


def _findings(path: str, trace: Trace, params: ScordParams) -> tuple[Scord, list[Finding]]:
    """Model after its run, and the races; bad input ends the command."""
    try:
        check_geometry(trace.header.geometry, params)
        region = region_of(trace.header, params)
        scord = Scord(params, region)
        events = progress(trace, "Checking", len(trace))
        return scord, find_races(events, params, region, scord, trace.header.locations)
    except ValueError as error:
        fail(f"{path}: {error}")


def check_gpu_trace(
    path: str,
    trace: Trace,
    params: ScordParams,
    unique: bool,
    oracle: bool,
    json_file: str | None,
) -> dict[str, Any]:
    """Run ScoRD's golden model over a trace and print the races.

    Parameters
    ----------
    path : str
        File, for error messages.
    trace : Trace
        The trace.
    params : ScordParams
        Configuration.
    unique : bool
        Print only the first race of each PC and kind.
    oracle : bool
        Look for the races that are really there, too.
    json_file : str or None
        Where JSON goes; nothing is written to it here.

    Returns
    -------
    dict
        What JSON says of the run.
    """
    scord, findings = _findings(path, trace, params)
    console, locations = report_console(json_file), trace.header.locations
    firsts = {report.sequence for report in scord.unique.values()}
    shown = [f for f in findings if f.report.sequence in firsts] if unique else findings
    print_findings(console, shown)
    console.print(
        f"Races: {len(findings)} ({len(scord.unique)} of different PC and kind) "
        f"in {len(trace)} events, {scord.counters['accesses']} accesses "
        f"({scord.counters['unmonitored']} outside the monitored region)."
    )
    result: dict[str, Any] = {
        "parameters": asdict(params),
        "events": len(trace),
        "unique": len(scord.unique),
        "counters": scord.counters,
        "races": [finding_to_dict(race) for race in findings],
    }
    if oracle:
        found = truths(trace, params)
        print_truths(console, found, scord.unique, locations)
        result["oracle"] = truths_to_dict(found, scord.unique, locations)
    return result
