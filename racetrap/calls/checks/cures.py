"""Cures of the races that a check has found, and their patch."""

from __future__ import annotations

from racetrap.commands.shared.terminal import progress, write_file
from racetrap.presenters.line_pairs import number_text
from racetrap.sim.gpu.editing.edits import diff
from racetrap.verdict.gpu.cure.cures import FindingCures
from racetrap.verdict.gpu.cure.edit_trials import CHECKED, WEAK
from racetrap.verdict.gpu.cure.trials import Sources
from racetrap.verdict.gpu.trace_check import TraceCheck
from racetrap.verdict.source_text import relative_place


def add_cures(check: TraceCheck, sources: Sources, seconds: float, file: str | None) -> list[str]:
    """Look for a cure of each finding, keep it with the finding, and write a patch of all.

    Parameters
    ----------
    check : TraceCheck
        The check.
    sources : Sources
        What was checked, to be edited.
    seconds : float
        Time after which no more edits are tried.
    file : str or None
        The patch, if one is wanted.

    Returns
    -------
    list of str
        What was found, in sentences.
    """
    found = FindingCures(
        check, sources, seconds, lambda numbers: progress(numbers, "Curing", len(numbers))
    )  # fmt: skip
    sentences = []
    if found.findings:
        checked = (
            f"; no race, fault or other result in {number_text(len(CHECKED), 'further schedule')} "
            f"and {number_text(WEAK, 'run')} by PTX's memory model"
        ) * bool(found.cured)
        counted = f"{len(found.cured)} of {number_text(len(found.findings), 'finding')}"
        sentences.append(f"Cures: {counted}{checked}.")
    if found.late:
        places = ", ".join(relative_place(each.first.later.place) for each in found.late)
        sentences.append(f"Time of --budget over before the search for a cure ended: {places}.")
    if file is None:
        return sentences
    edits = found.together()
    write_file(file, lambda: diff(sources.texts, edits, {name: name for name in sources.texts}))
    where = f"{file}, for `git apply` or `patch -p1` in {sources.folder.resolve()}."
    return [*sentences, f"Patch: {where if edits else 'no edit is in it.'}"]
