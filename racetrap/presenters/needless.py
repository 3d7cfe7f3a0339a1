"""Cache operations and waits, and what happens without each: text and plain data."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from rich.console import Console

from racetrap.golden_model.noncoherent.rules import kind_name
from racetrap.presenters.locations import pc_text
from racetrap.presenters.tables import print_table
from racetrap.schemas.accelerator_races import WithoutPlace
from racetrap.sim.accelerator.without import Without

_COLUMNS = ("place", "what", "times", "without it")
_MACHINE = {None: "", True: "; racy on the exact machine", False: "; not on the exact machine"}


def _rows(
    places: Sequence[Without], locations: Mapping[int, str]
) -> list[tuple[str, str, int, str]]:
    """A row for each place."""
    return [
        (
            pc_text(place.pc, locations),
            ", ".join(map(kind_name, place.kinds)),
            place.operations,
            (place.harm or "no race, no wrong data") + _MACHINE[place.is_racy],
        )
        for place in places
    ]


def print_without(
    console: Console, places: Sequence[Without], locations: Mapping[int, str]
) -> list[WithoutPlace]:
    """Print what happens without each place, and how many are needless; return it as plain data."""
    if places:
        rows = _rows(places, locations)
        print_table(console, "Cache operations and waits", _COLUMNS, rows)
    needless = sum(place.is_needless for place in places)
    console.print(
        f"Needless in this run: {needless} of {len(places)} places of cache operations and waits."
    )
    return [
        {
            "pc": place.pc,
            "location": locations.get(place.pc),
            "kinds": [kind_name(kind) for kind in place.kinds],
            "operations": place.operations,
            "harm": place.harm,
            "racy": place.is_racy,
            "needless": place.is_needless,
        }
        for place in places
    ]


def without_csv(places: Sequence[Without], locations: Mapping[int, str]) -> str:
    """The table as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_COLUMNS, *_rows(places, locations)])
    return text.getvalue()
