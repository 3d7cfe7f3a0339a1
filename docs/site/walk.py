"""Walk through a text trace of a GPU: what the golden model does at each line.

Runs in a browser as well, so it may import the golden model alone, and nothing of NumPy's.
"""

from __future__ import annotations

from typing import NamedTuple

from racetrap.golden_model.events import EventKind
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.detection_logic import LOAD_TABLE, STORE_TABLE, Condition
from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY, unpack_entry
from racetrap.golden_model.scord.packets import PacketKind, Step, TableRow
from racetrap.golden_model.scord.params import FILTER_BITS, ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace.container.rules import TraceError
from racetrap.golden_model.trace.container.text import LineError, text_file
from racetrap.golden_model.trace.gpu.event_line import read_event

#: What the trace is called in messages.
_PLACE = "Trace"
#: Events at which the detector does something.
_SHOWN = (EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC, EventKind.FENCE, EventKind.BARRIER)


class Moment(NamedTuple):
    """What the detector did with an access or a fence.

    Parameters
    ----------
    line : int
        Number of the line in the text.
    text : str
        The line.
    what : str
        The event that the detector checks, in words.
    row : str
        Row of the decision table that it took; empty for a barrier.
    condition : str
        Condition of the paper's tables that holds; empty if none does.
    verdict : str
        What it says of the access.
    entry : tuple of (str, str, str)
        Each field of the metadata entry with its value before and after; none for a fence.
    """

    line: int
    text: str
    what: str
    row: str
    condition: str
    verdict: str
    entry: tuple[tuple[str, str, str], ...] = ()


def _condition(step: Step) -> Condition:
    """The line of the decision table that the step took."""
    table = LOAD_TABLE if step.packet.kind == PacketKind.LOAD else STORE_TABLE
    return next(
        rule.condition
        for rule in table
        if rule.row == step.row
        and rule.condition.race == step.race
        and rule.condition.preliminary == step.preliminary
    )


def _values(params: ScordParams, packed: int) -> dict[str, str]:
    """Fields of an entry in words; dashes for one without an access."""
    fields = unpack_entry(params, packed)
    if packed == UNINITIALISED_ENTRY:
        return dict.fromkeys(fields, "–")
    return {
        name: format(value, f"0{FILTER_BITS}b") if name == "filter" else str(value)
        for name, value in fields.items()
    }


def _moment(params: ScordParams, line: int, text: str, step: Step) -> Moment:
    packet, row = step.packet, TableRow(step.row)
    who = f"warp {packet.warp} of block {packet.block}"
    if row == TableRow.FENCE:
        counts = f"{step.own_blk_fence_id} block, {step.own_dev_fence_id} device"
        return Moment(line, text, f"fence of {who}", row.name, "", f"Its fences so far: {counts}.")
    what = f"{PacketKind(packet.kind).name.lower()} of {packet.word << 2:#x} by {who}"
    if row == TableRow.UNMONITORED:
        return Moment(line, text, what, row.name, "", "Outside the monitored region.")
    condition = _condition(step)
    verdict = "No race."
    if step.race:
        verdict = f"Race: {RaceReport.from_step(params, step).sentence()}"
    before, after = _values(params, step.before), _values(params, step.after)
    return Moment(
        line, text, what, row.name,
        f"Table {condition.table} ({condition.letter})" if condition.table else "", verdict,
        tuple((name, before[name], after[name]) for name in before if name != "unused"),
    )  # fmt: skip


def walk(text: str, params: ScordParams) -> list[Moment]:
    """Moments of a text trace, in order.

    Parameters
    ----------
    text : str
        The trace.  Of its rules only those of the text are checked.
    params : ScordParams
        Configuration of the detector.

    Raises
    ------
    ValueError
        If the text breaks a rule, or does not fit the configuration.
    """
    file = text_file(text, _PLACE)
    try:
        scord = Scord(params, Region(**file.header["region"]))
    except (KeyError, TypeError):
        raise ValueError("Trace must have a header of system scord with a region") from None
    moments = []
    for number, line in file.lines:
        try:
            event = read_event(line.split())
        except LineError as error:
            raise TraceError(f"{_PLACE}, line {number}", error.rule, error.sentence) from None
        steps = scord.run(event)
        if event.kind == EventKind.BARRIER:
            verdict = "Earlier accesses of its warps are ordered from now on."
            moments.append(Moment(number, line, f"barrier of slot {event.slot}", "", "", verdict))
        elif event.kind in _SHOWN:
            # A fence comes to every bank alike.
            shown = steps[:1] if event.kind == EventKind.FENCE else steps
            moments += [_moment(params, number, line, step) for step in shown]
    return moments
