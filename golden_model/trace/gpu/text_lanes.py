"""Text form of a GPU trace, reading: the lanes of an access with their values."""

from __future__ import annotations

import re
from collections.abc import Iterator

from racetrap.golden_model.events import WARP_SIZE, AtomicOp, EventKind, Lane
from racetrap.golden_model.trace.container.rules import Rule
from racetrap.golden_model.trace.container.text import NUMBER, LineError, read_number

__all__ = ["read_lanes"]

_LANES_RE = re.compile(
    rf"(?P<first>[0-9]{{1,9}})(?:\.\.(?P<last>[0-9]{{1,9}}))?:(?P<address>{NUMBER})"
    rf"(?P<stride>[+-]{NUMBER})?"
    rf"(?:=(?:(?P<compare>{NUMBER})->)?(?P<value>{NUMBER})(?::(?P<outcome>ok|failed))?)?"
)
#: Values that a lane of an atomic has, and how they are written.
_VALUES: dict[AtomicOp | None, tuple[set[str], str]] = {
    AtomicOp.EXCH: ({"value"}, "=value"),
    AtomicOp.CAS: ({"value", "compare", "outcome"}, "=expected->new and :ok or :failed"),
}
#: Bits of a stored value that fit in one field of a lane; the rest goes to the next.
_VALUE_BITS = 64


def _check_values(match: re.Match[str], kind: EventKind, op: AtomicOp | None) -> None:
    given = {name for name in ("value", "compare", "outcome") if match[name] is not None}
    due, form = _VALUES.get(op, (set(), "no value"))
    if kind == EventKind.STORE and given:
        due, form = {"value"}, "=value or none"
    if given != due:
        what = kind.name.lower() if op is None else f"{kind.name.lower()} {op.name.lower()}"
        raise LineError(
            Rule.LANE_VALUES, f"Lane of {what} must be given with {form}, not {match[0]!r}"
        )


def read_lanes(word: str, kind: EventKind, op: AtomicOp | None) -> Iterator[Lane]:
    """Lanes of one word: ``L:ADDRESS`` or ``L..M:ADDRESS+STRIDE``, perhaps with values."""
    match = _LANES_RE.fullmatch(word)
    if match is None or (match["last"] is None) != (match["stride"] is None):
        raise LineError(
            Rule.TEXT,
            f"Lanes must be like 3:0x100 or 0..31:0x100+4, with =value in a store, and =value or "
            f"=expected->new:ok or :failed in an atomic, not {word!r}",
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
