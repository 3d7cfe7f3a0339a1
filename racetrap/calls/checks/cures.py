"""Cures of the races that a check has found, and their patch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from racetrap.commands.shared.terminal import progress, write_file
from racetrap.presenters.line_pairs import number_text
from racetrap.sim.gpu.editing.edits import diff
from racetrap.verdict.gpu.cure.cure import CHECKED, WEAK, CureSearch
from racetrap.verdict.gpu.cure.trials import Sources
from racetrap.verdict.gpu.trace_check import TraceCheck
from racetrap.verdict.race_findings import race_findings


def write_cures(check: TraceCheck, sources: Sources, file: str) -> list[str]:
    """Look for a cure of each finding, keep it with the finding, and write a patch of all.

    Parameters
    ----------
    check : TraceCheck
        The check.
    sources : Sources
        What was checked, to be edited.
    file : str
        The patch.

    Returns
    -------
    list of str
        What the patch holds, in sentences.
    """
    named = _names(sources)
    search = CureSearch(sources)
    findings = race_findings(check.pairs)
    races = [
        [frozenset(map(named, pair.first.places)) for pair in finding.pairs]
        for finding in findings
    ]  # fmt: skip
    cures = [search.cure(each) for each in progress(races, "Curing", len(races))]
    # What follows from another bug may have come before it.
    cures = [
        cure if cure.edits else search.other_cure(own) or cure
        for cure, own in zip(cures, races, strict=True)
    ]
    for finding, cure in zip(findings, cures, strict=True):
        for pair in finding.pairs:
            pair.cure = cure
    cured = [(cure, own) for cure, own in zip(cures, races, strict=True) if cure.edits]
    ended = {race for _, own in cured for race in own if race in search.races}
    edits = search.together([cure for cure, _ in cured], ended)
    names = {name: name for name in sources.texts}
    write_file(file, lambda: diff(sources.texts, edits, names))
    return [
        f"Cures: {len(cured)} of {number_text(len(findings), 'finding')}; no race, fault or other "
        f"result in {number_text(len(CHECKED), 'further schedule')} and "
        f"{number_text(WEAK, 'run')} by PTX's memory model.",
        f"Patch: {file}, for `git apply` or `patch -p1` in {sources.folder.resolve()}."
        if edits else "Patch: no edit is in it.",
    ]  # fmt: skip


def _names(sources: Sources) -> Callable[[str], str]:
    """Gives a place by the name that its source has among those that may be edited."""
    folder = sources.folder
    files = {str((folder / name).resolve()): name for name in sources.texts}

    def named(place: str) -> str:
        file, _, line = place.rpartition(":")
        for path in (Path(file), folder / file):
            if (name := files.get(str(path.resolve()))) is not None:
                return f"{name}:{line}"
        return place

    return named
