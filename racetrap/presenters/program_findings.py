"""Findings of a program's runs: text and JSON.

A finding begins with ``file:line:``, as compilers' messages do, so that editors find the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from racetrap.evaluation.scord.line_pairs import LinePair
from racetrap.evaluation.scord.program_check import ProgramCheck
from racetrap.evaluation.source_text import marked_line, relative_place
from racetrap.golden_model.barracuda import Party
from racetrap.golden_model.events import EventKind
from racetrap.sim.gpu.ptx.kernel_names import written_name

__all__ = [
    "check_to_dict",
    "print_annotations",
    "print_check",
    "problems_by_case",
    "race_sentence",
]


#: Accesses of threads have the lowest codes.
_LAST_ACCESS = EventKind.ATOMIC


def _number(count: int, noun: str) -> str:
    ending = "es" if noun.endswith("ch") else "s"
    return f"{count} {noun}{ending * (count != 1)}"


def _counts(counts: Mapping[Any, int]) -> str:
    by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0].value))
    return ", ".join(f"{count} {kind.value}" for kind, count in by_count)


def _access(party: Party) -> str:
    return party.access.name.lower().replace("_", " ")


def race_sentence(pair: LinePair) -> str:
    """The race of two lines in one sentence."""
    first, second = pair.race.first, pair.race.second
    return (
        f"{_access(second)} races with {_access(first)} at {relative_place(pair.earlier)}: "
        f"{pair.race.reason}"
    )


def _party_lines(order: str, place: str, party: Party) -> list[str]:
    return [
        f"  {order}: {_access(party)} at {relative_place(place)}"
        + f", thread {party.thread} of block {party.grid_block}" * (party.access <= _LAST_ACCESS),
        *(f"    {line}" for line in marked_line(place)),
    ]


def _pair_text(pair: LinePair, schedules: int) -> str:
    race = pair.race
    found = f", in {len(pair.schedules)} of {schedules} schedules" * (schedules > 1)
    return "\n".join([
        f"{relative_place(pair.later)}: race: {race_sentence(pair)}",
        *_party_lines("earlier", pair.earlier, race.first),
        *_party_lines("later", pair.later, race.second),
        f"  {_number(pair.instances, 'instance')} ({_counts(pair.kinds)}; {_counts(pair.classes)}) "
        f"in {_number(pair.block_pairs, 'pair')} of blocks{found}; first at "
        f"{race.space.name.lower()} address {race.address:#x}, launch {race.kernel}",
        "",
    ])  # fmt: skip


def print_check(console: Console, check: ProgramCheck, limit: int | None) -> None:
    """Print what is wrong with a program, then a summary in numbers.

    Parameters
    ----------
    console : Console
        Where to print.
    check : ProgramCheck
        The program's runs.
    limit : int, optional
        Pairs of lines that are printed at most.
    """
    pairs, schedules = check.pairs, len(check.runs)
    lines = [_pair_text(pair, schedules) for pair in pairs[:limit]]
    if limit is not None and len(pairs) > limit:
        lines.append(f"{_number(len(pairs) - limit, 'more finding')}: --all shows them.\n")
    for each in check.divergences.values():
        lines.append(
            f"{relative_place(each.place)}: barrier: thread {each.thread} of block "
            f"{each.grid_block} does not come to it with the others"
        )
    lines += [f"Fault: {fault}" for fault in check.faults]
    lines += [f"Not done: {problem}" for problem in check.problems]
    console.print("\n".join([*lines, *_summary(check)]), markup=False)


def _summary(check: ProgramCheck) -> list[str]:
    pairs, runs = check.pairs, check.runs
    launches = [launch for run in runs for launch in run.launches]
    traced = sum(launch.traced for launch in launches)
    instances = sum(pair.instances for pair in pairs)
    lines = [
        f"Races: {_number(len(pairs), 'pair')} of source lines, {_number(instances, 'instance')}; "
        f"{_number(len(check.faults), 'fault')}, {_number(len(check.divergences), 'barrier')} with "
        f"threads missing.",
        f"Checked: {traced} of {_number(len(launches), 'launch')}, "
        f"{sum(len(run.trace) for run in runs)} events, in {_number(len(runs), 'schedule')}. "
        f"Accesses of the host to memory that it shares with kernels are not looked at.",
    ]
    if check.known:
        instances = sum(pair.instances for pair in check.known)
        lines.append(
            f"Known: {_number(len(check.known), 'pair')} of source lines of the baseline, "
            f"{_number(instances, 'instance')}."
        )
    lines += [
        f"Not found: race of the baseline at {race.later.file}: {race.later.text}"
        for race in check.not_found
    ]
    if check.status:
        lines.append(_end(check.status))
    return lines


def _end(status: int) -> str:
    how = f"exit status {status}" if status > 0 else f"signal {-status}"
    return f"Program: ended with {how}."


def print_annotations(console: Console, check: ProgramCheck) -> None:
    """Print findings as GitHub's workflow commands, which mark the lines of a change."""
    for pair in check.pairs:
        path, colon, line = relative_place(pair.later).rpartition(":")
        place = f"file={path},line={line}," if colon else ""
        text = f"{race_sentence(pair)} ({_number(pair.instances, 'instance')})"
        console.print(f"::error {place}title=race::{text.replace('%', '%25')}", markup=False)


def problems_by_case(check: ProgramCheck) -> dict[str, str | None]:
    """What is wrong, by test case for JUnit; ``None`` for what is right."""
    races = [f"{relative_place(pair.later)}: {race_sentence(pair)}" for pair in check.pairs]
    barriers = [relative_place(each.place) for each in check.divergences.values()]
    ending = [*check.problems, *([_end(check.status)] if check.status else [])]
    cases = {"races": races, "barriers": barriers, "faults": check.faults, "program": ending}
    return {name: "\n".join(lines) or None for name, lines in cases.items()}


def _named(counts: Mapping[Any, int]) -> dict[str, int]:
    return {kind.value: count for kind, count in counts.items()}


def _party_to_dict(party: Party, place: str) -> dict[str, Any]:
    return {
        "place": relative_place(place),
        "kind": party.access.name.lower(),
        "pc": party.pc,
        "grid_block": party.grid_block,
        "thread": party.thread,
        "event": party.event,
    }


def _pair_to_dict(pair: LinePair) -> dict[str, Any]:
    race = pair.race
    return {
        "sentence": race_sentence(pair),
        "earlier": _party_to_dict(race.first, pair.earlier),
        "later": _party_to_dict(race.second, pair.later),
        "space": race.space.name.lower(),
        "address": race.address,
        "launch": race.kernel,
        "instances": pair.instances,
        "block_pairs": pair.block_pairs,
        "kinds": _named(pair.kinds),
        "classes": _named(pair.classes),
        "schedules": sorted(pair.schedules),
    }


def check_to_dict(check: ProgramCheck) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "status": check.status,
        "races": [_pair_to_dict(pair) for pair in check.pairs],
        "known": [_pair_to_dict(pair) for pair in check.known],
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
