"""A race with its cure for the first page, from a run made when the site is built."""

from __future__ import annotations

import os
from pathlib import Path

from racetrap.api import RunResult, run
from racetrap.presenters.page import page_environment
from racetrap.presenters.race_findings import explaining_lines, race_line
from racetrap.presenters.timeline import timeline_drawing
from racetrap.verdict.gpu.cure.edit_trials import CHECKED, WEAK

_ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = Path("docs", "examples", "block-sum.cu")
#: The kernel, without its host code.
_LINES = 11
#: More than the search for the cure takes on a busy machine.
_SECONDS = 600


def first_race() -> str:
    """The source, what is printed, a timeline and the cure."""
    before = Path.cwd()
    # Places are named as a reader in the checkout sees them.
    os.chdir(_ROOT)
    try:
        return race_text(run(_PROGRAM, seconds=_SECONDS))
    finally:
        os.chdir(before)


def race_text(found: RunResult) -> str:
    """The only race of a run as a part of a page."""
    (finding,) = found.races
    race, cure = finding.first, finding.cure
    if race.timeline is None or cure is None or not cure.diff:
        why = cure.reason if cure else "it was not looked for"
        raise ValueError(f"Race of {_PROGRAM} must have a timeline and a cure, not none: {why}")
    source = (_ROOT / _PROGRAM).read_text(encoding="utf-8").splitlines()[:_LINES]
    lines = sorted({int(place.rpartition(":")[2]) for place in race.places})
    drawing = timeline_drawing(race.timeline, "first-race")
    svg = page_environment().get_template("timeline.html").render(drawing=drawing)
    said = "\n".join([race_line(finding), *(f"  {line}" for line in explaining_lines(finding))])
    parts = [
        f"```console\n$ racetrap run {_PROGRAM}\n{said}\n```",
        f"```{{code-block}} cuda\n:emphasize-lines: {','.join(map(str, lines))}\n"
        + "\n".join(source) + "\n```",
        f'<figure class="first-timeline">\n{svg}</figure>',
        f"```diff\n{cure.diff}```",
    ]  # fmt: skip
    return (
        "````{container} first-race\n" + "\n\n".join(parts) + "\n````\n\n"
        "The output and the edit come from a run made when this page was built. An edit is shown "
        f"only if {len(CHECKED)} further schedules and {WEAK} runs by PTX's memory model are free "
        "of the race, have no new finding, and give the same results.\n"
    )
