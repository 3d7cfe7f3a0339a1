"""Event of a GPU from a line of the text form.

Ref: ``docs/trace-format.md``, section on the text form.
"""

from __future__ import annotations

from racetrap.golden_model.events import LANE_KINDS, Event, EventKind
from racetrap.golden_model.trace.container.event_text import event_values
from racetrap.golden_model.trace.container.rules import Rule
from racetrap.golden_model.trace.container.text import LineError
from racetrap.golden_model.trace.gpu.lanes import read_lanes
from racetrap.golden_model.trace.gpu.schema import GPU_SCHEMA

#: Kinds of event that have no lanes.
LANELESS_KINDS = frozenset(EventKind) - LANE_KINDS


def read_event(words: list[str]) -> Event:
    """Event of the words of a line, or ``LineError``."""
    at = words.index("lanes", 1) if "lanes" in words[1:] else len(words)
    if at < len(words) and words[0] in map(GPU_SCHEMA.name, LANELESS_KINDS):
        raise LineError(Rule.UNUSED_FIELD, f"Lanes have no meaning in {words[0]}: leave them out")
    values = event_values(GPU_SCHEMA, words[:at])
    kind, op = values["kind"], values.get("op")
    lanes = tuple(lane for word in words[at + 1 :] for lane in read_lanes(word, kind, op))
    if kind == EventKind.ATOMIC:
        values["strong"] = True
    return Event(lanes=lanes, **values)
