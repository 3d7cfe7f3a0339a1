"""Findings of a CUDA program's runs: in sentences, and as JSON."""

from __future__ import annotations

from typing import Any

from racetrap.evaluation.scord.program_check import ProgramCheck
from racetrap.evaluation.source_text import relative_place
from racetrap.presenters.findings import Findings, known_sentences
from racetrap.presenters.line_pairs import number_text, pair_to_dict
from racetrap.sim.gpu.ptx.kernel_names import written_name

__all__ = ["check_to_dict", "findings_of"]


def findings_of(check: ProgramCheck) -> Findings:
    """What is wrong with a program, and a summary in numbers."""
    barriers = [
        f"{relative_place(each.place)}: barrier: thread {each.thread} of block "
        f"{each.grid_block} does not come to it with the others"
        for each in check.divergences.values()
    ]
    ending = [f"Not done: {problem}" for problem in check.problems]
    if check.status:
        ending.append(_end(check.status))
    faults = [f"Fault: {fault}" for fault in check.faults]
    others = {"barriers": barriers, "faults": faults, "program": ending}
    return Findings(check.pairs, _summary(check), others, len(check.runs))


def _summary(check: ProgramCheck) -> list[str]:
    pairs, runs = check.pairs, check.runs
    launches = [launch for run in runs for launch in run.launches]
    traced = sum(launch.traced for launch in launches)
    instances = sum(pair.instances for pair in pairs)
    lines = [
        f"Races: {number_text(len(pairs), 'pair')} of source lines, "
        f"{number_text(instances, 'instance')}; {number_text(len(check.faults), 'fault')}, "
        f"{number_text(len(check.divergences), 'barrier')} with threads missing.",
        f"Checked: {traced} of {number_text(len(launches), 'launch')}, "
        f"{sum(len(run.trace) for run in runs)} events, in "
        f"{number_text(len(runs), 'schedule')}. "
        f"Accesses of the host to memory that it shares with kernels are not looked at.",
    ]
    return [*lines, *known_sentences(check.known, check.not_found)]


def _end(status: int) -> str:
    how = f"exit status {status}" if status > 0 else f"signal {-status}"
    return f"Program: ended with {how}."


def check_to_dict(check: ProgramCheck) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "status": check.status,
        "races": [pair_to_dict(pair) for pair in check.pairs],
        "known": [pair_to_dict(pair) for pair in check.known],
        "barrier_divergences": [
            {
                "place": relative_place(each.place),
                "grid_block": each.grid_block,
                "thread": each.thread,
            }
            for each in check.divergences.values()
        ],
        "faults": check.faults,
        "problems": check.problems,
        "events": [len(run.trace) for run in check.runs],
        "launches": [
            {
                "kernel": written_name(launch.kernel),
                "grid": list(launch.grid),
                "block": list(launch.block),
                "stream": launch.stream,
                "checked": launch.traced,
            }
            for launch in check.launches
        ],
    }
