"""The bins of the bus monitor's functional coverage, and the reasons why some cannot be hit."""

from __future__ import annotations

from racetrap.golden_model.noncoherent.rules import Rule
from racetrap.golden_model.trace.noncoherent.operations import OperationKind

__all__ = ["BINS", "SETS", "UNREACHABLE"]

#: Sets of bytes; those of all engines count together.
SETS = ("dirty_granules", "dirty_bytes", "valid", "stale", "writing", "reading")
_EVENTS = ("insert", "merge", "cover", "shrink", "split", "drop", "compact")
_CERTAINTIES = ("definite", "possible")
_SYNCED = "Only a sync takes DMA out, all of an engine's at once."


def _bins() -> list[str]:
    names = [f"operation.{kind.name.lower()}" for kind in OperationKind]
    names += ["operation.rows.one", "operation.rows.several"]
    names += ["operation.first_address", "operation.last_address"]
    names += [f"rule.{rule.value}.{word}" for rule in Rule for word in _CERTAINTIES]
    names += [f"engines.{kind}.{word}" for kind in ("dma_read", "dma_write") for word in
              _CERTAINTIES]  # fmt: skip
    names += ["origin.one", "origin.several", "row.both_sides"]
    names += [f"set.{name}.{event}" for name in SETS for event in _EVENTS]
    return names


#: Names of all bins, in the order of reports.
BINS = dict.fromkeys(_bins())
#: Bins that no stimulus can hit, with the reason.
UNREACHABLE = {
    f"set.{name}.{event}": _SYNCED
    for name in ("writing", "reading")
    for event in ("shrink", "split", "drop")
}
