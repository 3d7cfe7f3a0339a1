"""Event counters of a detector bank: one pulse an event, summed into registers by the system."""

from __future__ import annotations

from amaranth.lib import data

from racetrap.golden_model.scord.packets import Preliminary, RaceKind

__all__ = ["PULSES", "pulses_layout"]

#: Pulses of a bank; ``races_*`` and ``preliminary_*`` follow the enumerations.
PULSES = (
    "accesses",
    "fences",
    "unmonitored",
    *(f"preliminary_{kind.name.lower()}" for kind in Preliminary if kind),
    *(f"races_{kind.name.lower()}" for kind in RaceKind if kind),
    "tag_conflicts",
    "stall_cycles",
    "metadata_read_errors",
    "metadata_write_errors",
    "reports_dropped",
)


def pulses_layout() -> data.StructLayout:
    """One bit for each of ``PULSES``."""
    return data.StructLayout(dict.fromkeys(PULSES, 1))
