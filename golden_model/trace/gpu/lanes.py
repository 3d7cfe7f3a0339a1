"""Lanes of accesses: their words in the text form, in ranges where they are regular.

A word is ``L:ADDRESS`` or ``L..M:ADDRESS+STRIDE``, optionally with values for all its lanes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from racetrap.golden_model.events import (
    COPY_KINDS,
    WARP_SIZE,
    AtomicOp,
    Event,
    EventKind,
    Lane,
)
from racetrap.golden_model.trace.container.rules import Rule
from racetrap.golden_model.trace.container.text import NUMBER, LineError, read_number

_LANES_RE = re.compile(
    rf"(?P<first>[0-9]{{1,9}})(?:\.\.(?P<last>[0-9]{{1,9}}))?:(?P<address>{NUMBER})"
    rf"(?P<stride>[+-]{NUMBER})?"
    rf"(?:=(?:(?P<compare>{NUMBER})->)?(?P<value>{NUMBER})(?::(?P<outcome>ok|failed))?)?\Z"
)
#: Values of a lane of an atomic, and their text form.
_VALUES: dict[AtomicOp | None, tuple[set[str], str]] = {
    AtomicOp.EXCH: ({"value"}, "=value"),
    AtomicOp.CAS: ({"value", "compare", "outcome"}, "=expected->new and :ok or :failed"),
}
#: Bits of a stored value in one field of a lane; the rest is in the next.
_VALUE_BITS = 64
#: Shortest run of lanes worth writing as a range.
_SHORTEST_RANGE = 3


def _check_values(match: re.Match[str], kind: EventKind, op: AtomicOp | None) -> None:
    given = {name for name in ("value", "compare", "outcome") if match[name] is not None}
    due, form = _VALUES.get(op, (set(), "no value"))
    if kind == EventKind.STORE and given:
        due, form = {"value"}, "=value or none"
    elif kind in COPY_KINDS:
        due, form = {"value"}, "=bytes"
    if given != due:
        what = kind.name.lower() if op is None else f"{kind.name.lower()} {op.name.lower()}"
        raise LineError(
            Rule.LANE_VALUES, f"Lane of {what} must be given with {form}, not {match[0]!r}"
        )


def read_lanes(word: str, kind: EventKind, op: AtomicOp | None) -> Iterator[Lane]:
    """Lanes of one word of an access, or ``LineError``."""
    match = _LANES_RE.match(word)  # fullmatch of the browser's Python has no groups
    if match is None or (match["last"] is None) != (match["stride"] is None):
        raise LineError(
            Rule.TEXT,
            f"Lanes must be like 3:0x100 or 0..31:0x100+4, with =value in a store, =bytes in a "
            f"copy, and =value or =expected->new:ok or :failed in an atomic, not {word!r}",
        )
    _check_values(match, kind, op)
    first, last = int(match["first"]), int(match["last"] or match["first"])
    if not first <= last < WARP_SIZE:
        raise LineError(Rule.LANES, f"Lanes must be ascending and below {WARP_SIZE}, not {word!r}")
    stride = 0
    if match["stride"] is not None:
        stride = read_number(match["stride"][1:]) * (-1 if match["stride"][0] == "-" else 1)
    address, value, compare = (
        read_number(match[name] or "0") for name in ("address", "value", "compare")
    )
    if kind == EventKind.STORE:
        compare, value = divmod(value, 1 << _VALUE_BITS)
    for index in range(last - first + 1):
        yield Lane(
            first + index, address + index * stride, value, compare, match["outcome"] == "ok"
        )


def lane_words(event: Event) -> Iterator[str]:
    """Words of the lanes of an access."""
    lanes, start = event.lanes, 0
    while start < len(lanes):
        lane, length = lanes[start], _run_length(lanes, start)
        if length < _SHORTEST_RANGE:
            length = 1
            yield f"{lane.lane}:{lane.address:#x}{_values(event, lane)}"
        else:
            stride = lanes[start + 1].address - lane.address
            yield (
                f"{lane.lane}..{lane.lane + length - 1}:{lane.address:#x}{stride:+d}"
                f"{_values(event, lane)}"
            )
        start += length


def _run_length(lanes: tuple[Lane, ...], start: int) -> int:
    """Lanes from ``start`` on with consecutive numbers, one stride and equal values."""
    first, end = lanes[start], start + 1
    stride = lanes[end].address - first.address if end < len(lanes) else 0
    while (
        end < len(lanes)
        and lanes[end].lane == first.lane + end - start
        and lanes[end].address == first.address + (end - start) * stride
        and lanes[end][2:] == first[2:]
    ):
        end += 1
    return end - start


def _values(event: Event, lane: Lane) -> str:
    if event.kind == EventKind.STORE:
        stored = lane.compare << _VALUE_BITS | lane.value
        return f"={stored:#x}" if stored else ""
    if event.kind in COPY_KINDS:
        return f"={lane.value:#x}"
    if event.kind != EventKind.ATOMIC or event.op == AtomicOp.OTHER:
        return ""
    if event.op == AtomicOp.EXCH:
        return f"={lane.value:#x}"
    return f"={lane.compare:#x}->{lane.value:#x}:{'ok' if lane.success else 'failed'}"
