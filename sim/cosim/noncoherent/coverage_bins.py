"""The bins of the bus monitor's functional coverage, and the reasons why some cannot be hit."""

from __future__ import annotations

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.noncoherent.rules import WRITE_BACK_RULES, Rule
from racetrap.golden_model.trace.noncoherent.operations import OperationKind

#: Sets of bytes; those of all engines count together.
SETS = ("dirty_granules", "dirty_bytes", "valid", "stale", "writing", "reading")
_EVENTS = ("insert", "merge", "cover", "shrink", "split", "drop", "compact")
_CERTAINTIES = ("definite", "possible")
_SYNCED = "Only a sync takes DMA out, all of an engine's at once."
_WRITE_THROUGH = "With write-through no line is dirty."
_NO_BUS = "The monitor observes no bus."
#: Where a burst lies, and how long it is.
_PLACES = (
    "one_beat", "most_beats", "narrow", "unaligned", "page_begin", "page_end", "wrap_begin",
    "wrap_middle", "memory_begin", "memory_end",
)  # fmt: skip
_CYCLES = ("read_and_write", "address_and_response", "sync")
_CHANNELS = ("aw", "ar", "r", "b")


def _bins() -> list[str]:
    names = [f"operation.{kind.name.lower()}" for kind in OperationKind]
    names += ["operation.rows.one", "operation.rows.several"]
    names += ["operation.first_address", "operation.last_address"]
    names += ["operation.empty"]
    names += [f"rule.{rule.value}.{word}" for rule in Rule for word in _CERTAINTIES]
    names += [f"engines.{kind}.{word}" for kind in ("dma_read", "dma_write") for word in
              _CERTAINTIES]  # fmt: skip
    names += ["origin.one", "origin.several", "row.both_sides"]
    names += [f"set.{name}.{event}" for name in SETS for event in _EVENTS]
    names += [f"bus.{kind}.{burst.name.lower()}" for kind in ("read", "write")
              for burst in AxiBurst]  # fmt: skip
    names += [f"bus.{what}" for what in (*_PLACES, *_CYCLES)]
    names += [f"bus.{channel}.{word}" for channel in _CHANNELS for word in
              ("stalled", "back_to_back")]  # fmt: skip
    return names


#: Names of all bins, in the order of reports.
BINS = dict.fromkeys(_bins())
#: Bins that only some instances have.
OPTIONAL_BINS: dict[str, None] = {}

#: Bins that no stimulus can hit, with the reason.
UNREACHABLE = {
    f"set.{name}.{event}": _SYNCED
    for name in ("writing", "reading")
    for event in ("shrink", "split", "drop")
}


def without_dirty_lines() -> dict[str, str]:
    """Bins that cannot be hit by a monitor beside a write-through cache, with the reason."""
    rules = tuple(f"rule.{rule.value}." for rule in WRITE_BACK_RULES)
    starts = (*rules, "set.dirty_")
    return {name: _WRITE_THROUGH for name in BINS if name.startswith(starts)}


def without_bus() -> dict[str, str]:
    """Bins that cannot be hit by a monitor that observes no bus, with the reason."""
    return {name: _NO_BUS for name in BINS if name.startswith("bus.")}
