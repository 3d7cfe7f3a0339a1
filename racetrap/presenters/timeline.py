"""Timeline of a race as a drawing: a line for each thread, and the order that is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from racetrap.presenters.printable import printable
from racetrap.verdict.source_text import relative_place, source_line
from racetrap.verdict.timeline import Moment, Sort, Timeline

#: Sizes in pixels of a drawing that is as wide as the text of a phone: text stays readable there.
_WIDTH, _LINES, _TOP, _LINE, _GAP = 400, (158, 242), 62, 15, 16
_TEXT = 16
#: Characters of a line beside a line of life.
_CHARACTERS, _SMALL_CHARACTERS = 18, 21

#: Pixels between the middles of a mark and of a label.
_CLEARANCE = 13
#: Between the words of an actor that stand on two lines.
_PARTS = re.compile(" of |, ")
_SHAPES = {Sort.ACCESS: "circle", Sort.ATOMIC: "diamond", Sort.ORDER: "bar"}


def timeline_drawing(timeline: Timeline, name: str) -> dict[str, Any]:
    """What the template ``timeline.html`` draws.

    Parameters
    ----------
    timeline : Timeline
        The timeline.
    name : str
        A word that is unique on the page.
    """
    rows, y = [], _TOP
    for moment in timeline.moments:
        y += _LINE * bool(moment.skipped)
        rows.append(_row(moment, y))
        y += _LINE * len(rows[-1]["lines"]) + _GAP
    ends = [row for row in rows if row["is_access"]]
    first, last = ends[0], ends[-1]
    return {
        "name": name, "width": _WIDTH, "height": y - _GAP + 4,
        "label": f"{_title(timeline.moments[rows.index(first)])}; {timeline.missing}: "
        f"{_title(timeline.moments[rows.index(last)])}",
        "lives": [
            {"x": x, "names": [_shortened(each, _CHARACTERS - 6) for each in _PARTS.split(actor)]}
            for x, actor in zip(_LINES, timeline.actors, strict=True)
        ],
        "rows": rows,
        "messages": [
            (_LINES[0] + 7, rows[one]["y"], _LINES[1] - 7, rows[other]["y"])
            for one, other in timeline.messages
        ],
        "skipped": timeline.skipped,
        "repeated": max(moment.times for moment in timeline.moments) > 1,
        "missing": [(_LINES[0] + 7, first["y"], _LINES[1] - 8, last["y"])],
        "missing_y": _label_height(first["y"], last["y"], [row["y"] for row in rows]),
        "missing_words": _shortened(timeline.missing, _CHARACTERS),
        "bands": [
            {
                "x": _LINES[band.side],
                "words": f"{timeline.actors[band.side]}: {printable(band.words)}",
                "top": _TOP - 16 if band.first is None else rows[band.first]["y"],
                "bottom": y - _GAP if band.last is None else rows[band.last]["y"],
            }
            for band in timeline.bands
        ],
    }  # fmt: skip


def _label_height(top: int, bottom: int, marks: Sequence[int]) -> int:
    """Height of the middle of an arrow's label: near the arrow's middle, and off the marks."""
    middle = (top + bottom) // 2
    heights = sorted(range(top, bottom), key=lambda height: abs(height - middle))
    free = (each for each in heights if min(abs(each - mark) for mark in marks) >= _CLEARANCE)
    return next(free, middle)


def _row(moment: Moment, y: int) -> dict[str, Any]:
    """A moment at a height."""
    side = moment.sides[0]
    times = f" ×{moment.times}" * (moment.times > 1)
    lines = [(words, "") for words in wrap(printable(moment.words) + times, _CHARACTERS)]
    if moment.name:
        lines.append((_shortened(moment.name, _CHARACTERS), "name"))
    if moment.place:
        place = relative_place(moment.place).rpartition("/")[2]
        lines.append((_shortened(place, _SMALL_CHARACTERS), "note"))
    if moment.lack:
        lines.append((_shortened(moment.lack, _CHARACTERS), "lack"))
    return {
        "y": y, "xs": [_LINES[each] for each in moment.sides],
        "is_wide": len(moment.sides) > 1 and not moment.is_access,
        "is_access": moment.is_access,
        "shape": _SHAPES[moment.sort],
        "style": "racing" if moment.is_access else "lacking" if moment.lack else "other",
        "text_x": _LINES[side] + (_TEXT if side else -_TEXT),
        "anchor": "start" if side else "end",
        "skipped": moment.skipped,
        "title": _title(moment),
        "lines": [
            {"y": y + 4 + _LINE * number, "text": text, "style": style or "words"}
            for number, (text, style) in enumerate(lines)
        ],
    }  # fmt: skip


def _title(moment: Moment) -> str:
    """A moment in a line, with its source."""
    name = f" of {moment.name}" * bool(moment.name)
    place = f" at {relative_place(moment.place)}" * bool(moment.place)
    text = source_line(moment.place).strip()
    return f"{moment.words}{name}{place}" + f": {text}" * bool(text)


def _shortened(text: str, most: int) -> str:
    """The end of a text, which tells places apart."""
    text = printable(text)
    return text if len(text) <= most else f"…{text[1 - most :]}"
