"""Script of the page that walks through a trace; runs in a browser, by Brython.

The page has the configuration and the traces as JSON, and elements whose ids begin with ``walk-``.
"""

from __future__ import annotations

import json
from typing import Any

from browser import document, html, window

from docs.site.walk import Moment, walk
from racetrap.golden_model.scord.params import ScordParams


class _Page:
    """The trace that is shown, and where in it."""

    def __init__(self) -> None:
        data = json.loads(document["walk-data"].text)
        self.params = ScordParams(**data["parameters"])
        self.traces: dict[str, str] = data["traces"]
        self.example: str = data["example"]
        self.moments: list[Moment] = []
        self.number = 0

    def choose(self, name: str) -> None:
        """Take one of the page's traces."""
        document["walk-choice"].value = name
        document["walk-text"].value = self.traces[name]
        self.check()

    def check(self, *_: Any) -> None:
        """Walk through the trace in the text field."""
        self.moments, self.number = [], 0
        try:
            self.moments = walk(document["walk-text"].value, self.params)
            races = sum(moment.verdict.startswith("Race") for moment in self.moments)
            text = f"{len(self.moments)} steps, {races} with a race"
        except ValueError as error:
            text = str(error)
        document["walk-summary"].text = text
        self.show()

    def go(self, by: int) -> None:
        """Go forward or back."""
        if self.moments:
            self.number = min(max(self.number + by, 0), len(self.moments) - 1)
        self.show()

    def show(self) -> None:
        """Show the step."""
        for name in ("line", "what", "row", "verdict", "entry"):
            document[f"walk-{name}"].text = ""
        document["walk-at"].text = ""
        if not self.moments:
            return
        moment = self.moments[self.number]
        document["walk-at"].text = f"Step {self.number + 1} of {len(self.moments)}"
        document["walk-line"].text = f"{moment.line}: {moment.text}"
        document["walk-what"].text = moment.what
        document["walk-row"].text = ", ".join(filter(None, (moment.row, moment.condition)))
        document["walk-verdict"].text = moment.verdict
        for name, before, after in moment.entry:
            cells = [html.TD(name), html.TD(before), html.TD(after)]
            if before != after:
                cells[2].html = f"<strong>{after}</strong>"
            document["walk-entry"].appendChild(html.TR(cells))


def start() -> None:
    """Fill the page; its address may name a trace and a step.

    As ``step-by-step.html#race_interblock_blkfence_raw/3``.
    """
    page = _Page()
    document["walk-choice"].bind("change", lambda event: page.choose(event.target.value))
    document["walk-check"].bind("click", page.check)
    document["walk-back"].bind("click", lambda event: page.go(-1))
    document["walk-forward"].bind("click", lambda event: page.go(1))
    name, _, step = window.location.hash[1:].partition("/")
    page.choose(name if name in page.traces else page.example)
    if step.isdigit():
        page.go(int(step) - 1)
    document["walk"].style.display = "block"
    document["walk-wait"].style.display = "none"
