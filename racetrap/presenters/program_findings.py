"""Findings of a CUDA program's runs: in sentences, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from racetrap.presenters.findings import Findings
from racetrap.presenters.line_pairs import number_text
from racetrap.presenters.race_choice import RaceChoice
from racetrap.presenters.trace_findings import fault_sentence, trace_check_to_dict, trace_findings
from racetrap.sim.gpu.ptx.kernel_names import written_name
from racetrap.verdict.gpu.program_check import ProgramCheck


def findings_of(check: ProgramCheck, choice: RaceChoice, remarks: Sequence[str] = ()) -> Findings:
    """What is wrong with a program, and a summary in numbers, which the remarks belong to."""
    ending = [f"Not done: {problem}" for problem in check.problems]
    if check.status:
        how = f"exit status {check.status}" if check.status > 0 else f"signal {-check.status}"
        ending.append(f"Program: ended with {how}.")
    return trace_findings(
        check.traces, choice,
        {
            "faults": [fault_sentence(each) for each in check.faults],
            "outside": [fault_sentence(each) for each in check.traces.outside],
            "program": ending,
        },
        remarks, [_launches(check)], _unchecked(check),
    )  # fmt: skip


def _unchecked(check: ProgramCheck) -> list[str]:
    """What was left out, in the first line."""
    launches = [launch for run in check.runs for launch in run.launches]
    traced = [launch for launch in launches if launch.traced]
    left = []
    if len(traced) < len(launches):
        left.append(f"{len(launches) - len(traced)} of {number_text(len(launches), 'launch')}")
    blocks = sum(launch.blocks for launch in traced)
    if unchecked := blocks - sum(launch.checked_blocks for launch in traced):
        left.append(f"ordinary accesses of {unchecked} of {number_text(blocks, 'block')}")
    return [f"Not checked: {', and '.join(left)}."] if left else []


def _launches(check: ProgramCheck) -> str:
    launches = [launch for run in check.runs for launch in run.launches]
    traced = sum(launch.traced for launch in launches)
    return (
        f"Checked: {traced} of {number_text(len(launches), 'launch')}, "
        f"{number_text(len(check.faults), 'fault')}; accesses of the host to memory that it shares "
        "with kernels are not checked."
    )


def check_to_dict(check: ProgramCheck) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "status": check.status,
        **trace_check_to_dict(check.traces),
        "faults": check.faults,
        "outside": check.traces.outside,
        "problems": check.problems,
        "events": check.traces.events,
        "launches": [
            {
                "kernel": written_name(launch.kernel),
                "grid": list(launch.grid),
                "block": list(launch.block),
                "stream": launch.stream,
                "checked": launch.traced,
                "checked_blocks": launch.checked_blocks,
            }
            for launch in check.launches
        ],
    }
