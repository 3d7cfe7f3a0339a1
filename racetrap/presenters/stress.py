"""Failures of a kernel under weak memory: text for a terminal, and plain data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from racetrap.golden_model.ptx_memory_model.operational import Kind
from racetrap.sim.gpu.stress.advice import Advice, AdvisedChange
from racetrap.sim.gpu.stress.patch import Patch
from racetrap.sim.gpu.stress.subject import Run
from racetrap.verdict.source_text import (
    beside,
    relative_place,
    source_line,
    with_relative_places,
)

_PLACE = re.compile(r"[\w./+-]+:\d+")


def _quoted(places: Sequence[str], folder: Path) -> Iterator[str]:
    """Source text of places, each once."""
    once = dict(enumerate(dict.fromkeys(places)))
    for number, whole in beside(once, folder).items():
        text = source_line(whole).strip()
        if text:
            yield f"      {relative_place(once[number])}  {text}"


def witness_lines(run: Run, folder: Path) -> Iterator[str]:
    """Story of a failing run.

    Parameters
    ----------
    run : Run
        The run, shrunk.
    folder : Path
        Where sources are looked for.
    """
    assert run.failure is not None
    yield f"  {run.failure.value}: {with_relative_places(run.sentence)}"
    count = len(run.deviations)
    yield f"  Witness: {count} deviation{'s' * (count != 1)} from warps in order and strong memory"
    if run.is_sequential:
        yield "  Memory did not deviate: the failure needs no weak memory (see `racetrap check`)."
    places: list[str] = []
    for number, deviation in enumerate(run.deviations, 1):
        yield f"  {number}. {with_relative_places(deviation.story)}"
        places += _PLACE.findall(deviation.story)
    yield from _quoted(places, folder)


def _sentence(change: AdvisedChange) -> str:
    """What to change, in words."""
    verb = change.action.partition("_")[0]
    before = {"insert": "before", "insert_after": "after"}.get(change.action, "at")
    to = "" if verb in ("insert", "remove") else " to"
    return f"{verb}{to} {change.what} {before} {relative_place(change.place)}"


def _change_lines(changes: Sequence[AdvisedChange], folder: Path) -> Iterator[str]:
    for change in changes:
        yield f"  {_sentence(change)}"
        yield from _quoted([change.place], folder)


def advice_lines(advice: Advice, folder: Path) -> Iterator[str]:
    """Advice, a line for each change and its source."""
    models = " and ".join(advice.memories)
    runs = f"{advice.runs} runs" + f" by {models}" * (len(advice.memories) > 1)
    if not advice.cured:
        yield "Advice: no fences before accesses prevent the failure."
    elif not advice.changes:
        yield (
            "Advice: no fence is judged redundant, because accesses race (see `racetrap check`)."
            if advice.races
            else f"Advice: every executed fence is needed as it is ({runs} per fence tested)."
        )
    else:
        yield f"Advice, which none of {runs} refutes:"
    yield from _change_lines(advice.changes, folder)
    if advice.instead:
        yield "Alternatively, change the memory order of existing accesses:"
        yield from _change_lines(advice.instead, folder)
    if advice.unexecuted:
        yield "Not executed, or not on every path, and therefore not judged redundant:"
    for each in advice.unexecuted:
        yield f"  {each.what} at {relative_place(each.place)}"
        yield from _quoted([each.place], folder)


def patch_lines(file: str, patch: Patch) -> Iterator[str]:
    """Where a patch is, where it is to be applied, and what is not in it."""
    elsewhere = f", to be applied in {patch.folder}" * (patch.folder != Path.cwd())
    yield f"Patch: {file}{elsewhere}" if patch.text else f"Patch: {file} is empty"
    for change in patch.left_out:
        yield f"  not in the patch, because the source line is unclear: {_sentence(change)}"


def _to_dicts(changes: Sequence[AdvisedChange]) -> list[dict[str, str]]:
    return [one._replace(place=relative_place(one.place))._asdict() for one in changes]


def stress_to_dict(
    runs: Sequence[Run], witness: Run | None, advice: Advice | None, patch: Patch | None
) -> dict[str, Any]:
    """The same as plain data."""
    failures = Counter(run.failure.value for run in runs if run.failure)
    document: dict[str, Any] = {
        "runs": len(runs),
        "failing": sum(failures.values()),
        "failures": dict(failures),
        "witness": None,
    }
    if witness is not None and witness.failure is not None:
        document["witness"] = {
            "failure": witness.failure.value,
            "sentence": with_relative_places(witness.sentence),
            "deviations": [
                {"kind": one.kind.value, "number": one.number, "option": one.option,
                 "options": one.options, "story": with_relative_places(one.story)}
                for one in witness.deviations
            ],
            "of_memory": sum(one.kind is not Kind.TURN for one in witness.deviations),
        }  # fmt: skip
    if advice is not None:
        document["advice"] = {
            "cured": advice.cured, "runs": advice.runs, "memories": list(advice.memories),
            "changes": _to_dicts(advice.changes), "instead": _to_dicts(advice.instead),
            "not_executed": [
                {"place": relative_place(each.place), "what": each.what}
                for each in advice.unexecuted
            ],
            "races": advice.races, "patch": patch.text if patch else "",
        }  # fmt: skip
    return document
