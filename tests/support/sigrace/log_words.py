"""Entries of the conflict log as the hardware holds them."""

from __future__ import annotations

from racetrap.golden_model.sigrace.packets import LogEntry
from racetrap.golden_model.sigrace.params import SigraceParams


def packed_entry(params: SigraceParams, entry: LogEntry) -> int:
    """A conflict as one integer; names of blocks are not in the hardware's log."""
    fields = {**entry._asdict(), "unused": 0}
    del fields["block"], fields["other_block"]
    for name in ("thread_timestamp", "other_timestamp"):
        fields[name] = sum(
            counter << number * params.timestamp_bits for number, counter in enumerate(fields[name])
        )
    return params.log_layout.pack(fields)
