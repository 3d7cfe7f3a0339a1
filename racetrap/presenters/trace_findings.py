"""Findings of a GPU's traces: in sentences, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from racetrap.presenters.findings import Findings, known_sentences
from racetrap.presenters.gpu_races import left_out_sentence
from racetrap.presenters.line_pairs import number_text, pair_to_dict, seen_text, times_text
from racetrap.presenters.race_choice import RaceChoice
from racetrap.presenters.race_findings import finding_to_dict
from racetrap.sim.gpu.oracle import assumes_lockstep
from racetrap.verdict.codes import code_of, level_of
from racetrap.verdict.gpu.detector_verdict import verdict_of
from racetrap.verdict.gpu.trace_check import TraceCheck
from racetrap.verdict.race_findings import race_findings
from racetrap.verdict.source_text import relative_place, split_place, with_relative_places

#: What no check of some runs can rule out.
_OTHER_RUNS = "Another schedule or input may have other races."


def fault_sentence(fault: str) -> str:
    """What ended a kernel before its time, and where, if that is known."""
    place, text = split_place(with_relative_places(fault))
    return f"{place}: fault: {text}" if place else f"Fault: {text}"


def ending_sentences(
    faults: Iterable[str], outside: Iterable[str], results: Iterable[str]
) -> dict[str, list[str]]:  # fmt: skip
    """What went wrong in runs: what ended kernels before their time, what they loaded from outside
    all memory, and what memory did not hold though it was expected, each once."""
    return {
        "faults": [fault_sentence(each) for each in dict.fromkeys(faults)],
        "outside": [fault_sentence(each) for each in dict.fromkeys(outside)],
        "results": [f"Result: {each}." for each in dict.fromkeys(results)],
    }


def trace_findings(
    check: TraceCheck, choice: RaceChoice,
    others: Mapping[str, Sequence[str]] | None = None, remarks: Sequence[str] = (),
    notes: Sequence[str] = (), unchecked: Sequence[str] = (),
) -> Findings:  # fmt: skip
    """What is wrong with traces, and a summary in numbers.

    Parameters
    ----------
    check : TraceCheck
        The traces.
    choice : RaceChoice
        How many reports are named that the oracle does not confirm.
    others : mapping of str to sequence of str, optional
        What is wrong besides, by its kind in a word.
    remarks, notes : sequence of str
        Sentences that belong to the summary, and to the notes, of which pairs that are no races are
        part.
    unchecked : sequence of str
        What was not checked, in sentences.
    """
    wrong = {"barriers": _barriers(check), **(others or {})}
    is_clean = not check.pairs and not any(wrong.values())
    summary, notes = [_clean(check)] if is_clean else _summary(check), [_OTHER_RUNS, *notes]
    detector = _detector(check, choice)
    if check.rule is None or (check.detector and check.detector.is_asked_for):
        summary += detector
    else:
        notes += detector
    pairs = [pair.in_own_code for pair in check.pairs] if choice.own_code else check.pairs
    advice = {"unordered-strong": check.strong, "lockstep": check.lockstep}
    return Findings(
        pairs,
        [*summary, *remarks, *known_sentences(check.known, check.not_found)],
        wrong, len(check.events), advice if choice.shows_notes else {},
        [*unchecked, *_partly_judged(check), *_opening(check)], notes,
    )  # fmt: skip


def _partly_judged(check: TraceCheck) -> list[str]:
    """Accesses that later ones were not compared with."""
    if not check.partly_judged:
        return []
    where = number_text(check.partly_judged, "location")
    return [f"Not judged: some accesses to {where}; more were unordered than are kept."]


def _opening(check: TraceCheck) -> list[str]:
    """What lockstep hides, if lanes ran in it."""
    if check.independent:
        return []
    if check.rule is None or assumes_lockstep(check.rule):
        hidden = "races inside a warp are not looked for"
    elif found := len(check.lockstep):
        more = f"{number_text(found, 'more pair')} of source lines would race"
        hidden = f"without it, {more} (--notes shows them)"
    else:
        hidden = "this hides no race of the runs checked"
    return [f"Lockstep: the lanes of a warp ran together, as before Volta; {hidden}."]


def _barriers(check: TraceCheck) -> list[str]:
    return [
        f"{relative_place(each.place)}: fault: thread {each.thread} of block "
        f"{each.grid_block} does not reach the barrier with the others"
        for each in check.divergences.values()
    ]


def _judge(check: TraceCheck) -> str:
    return "the detector's verdict" if check.rule is None else f"exact, by rule {check.rule}"


def _checked(check: TraceCheck) -> str:
    runs = f"{sum(check.events)} events in {number_text(len(check.events), 'schedule')}"
    return runs + f" {check.ending}" * bool(check.ending)


def _clean(check: TraceCheck) -> str:
    return f"Races: none ({_judge(check)}). Checked: {_checked(check)}."


def _summary(check: TraceCheck) -> list[str]:
    pairs = check.pairs
    ended = (
        f" ({check.ended_early} up to the fault that ended a kernel)" if check.ended_early else ""
    )
    return [
        f"Races: {number_text(len(pairs), 'pair')} of source lines, "
        f"{seen_text(*pairs)} ({_judge(check)}); "
        f"{number_text(len(check.divergences), 'barrier')} not reached by all threads.",
        f"Checked: {_checked(check)}{ended}.",
    ]


def _detector(check: TraceCheck, choice: RaceChoice) -> list[str]:
    """What the detector made of the races, and what it did not check."""
    if check.detector is None:
        return []
    name, runs, counters = check.detector.name, check.detector_runs, check.counters
    sentences = []
    if check.rule is not None:
        outcomes = sum(len(run.outcomes) for run in runs)
        reported = sum(each.outcome == "reported" for run in runs for each in run.outcomes)
        missed = sum(run.missed for run in runs)
        strays = list(dict.fromkeys(each for run in runs for each in run.unconfirmed))
        imposed = list(dict.fromkeys(each for run in runs for each in run.imposed))
        sentences += [
            f"{relative_place(place)}: not confirmed: detector {name} reports {kind}, but no race "
            "of this line is in the run"
            for place, kind in strays[: choice.most_shown]
        ]
        why_imposed = verdict_of(check.detector.params).why_imposed
        sentences += [
            f"{relative_place(place)}: imposed by the method: detector {name} reports {kind}; the "
            f"accesses are ordered or allowed to conflict, but {why_imposed(kind)}"
            for place, kind in imposed[: choice.most_shown]
        ]
        sentences.append(
            f"Detector {name}: {reported} of {outcomes} distinct races reported, {missed} missed, "
            f"{outcomes - reported - missed} out of scope; {len(strays)} reports not confirmed"
            f"{_imposed_text(len(imposed))}."
        )
    sentences.append(
        f"Detector {name} did not check {counters['unmonitored']} of "
        f"{counters['accesses'] + counters['unmonitored']} accesses to global memory, outside its "
        f"region, and {sum(run.shared for run in runs)} to shared memory"
        f"{_tag_conflict_text(counters)}."
    )
    if (left_out := counters.get("accesses_left_out")) is not None:
        sentences.append(left_out_sentence(name, left_out))
    return sentences


def _imposed_text(count: int) -> str:
    return f", {count} imposed by the method" if count else ""


def _tag_conflict_text(counters: Mapping[str, int]) -> str:
    """What a detector whose words share entries has lost."""
    if (lost := counters.get("tag_conflicts")) is None:
        return ""
    return f"; metadata evicted {times_text(lost)} by another word"


def trace_check_to_dict(check: TraceCheck) -> dict[str, Any]:
    """The same as plain data."""
    detector = check.detector and {
        "preset": check.detector.name,
        "counters": dict(check.counters),
        "shared_accesses": sum(run.shared for run in check.detector_runs),
        "missed": sum(run.missed for run in check.detector_runs),
        "not_confirmed": _reports_to_dict(run.unconfirmed for run in check.detector_runs),
        "imposed_by_method": _reports_to_dict(run.imposed for run in check.detector_runs),
    }
    return {
        "rule": check.rule,
        "independent_threads": check.independent,
        "findings": [finding_to_dict(each) for each in race_findings(check.pairs)],
        "known": [finding_to_dict(each) for each in race_findings(check.known)],
        "unordered_strong": [pair_to_dict(pair) for pair in check.strong],
        "ordered_by_lockstep": [pair_to_dict(pair) for pair in check.lockstep],
        "barrier_divergences": [
            {
                "code": code_of("barriers"),
                "level": level_of("barriers"),
                "place": relative_place(each.place),
                "grid_block": each.grid_block,
                "thread": each.thread,
            }
            for each in check.divergences.values()
        ],
        "partly_judged": check.partly_judged,
        "detector": detector,
    }


def _reports_to_dict(runs: Iterable[Iterable[tuple[str, str]]]) -> list[dict[str, str]]:
    """Different reports of all runs."""
    return [
        {"place": relative_place(place), "kind": kind}
        for place, kind in dict.fromkeys(each for run in runs for each in run)
    ]
