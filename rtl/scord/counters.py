"""Event counters of a detector bank: one pulse an event, summed into registers by the system."""

from __future__ import annotations

from amaranth.lib import data

from racetrap.golden_model.scord.packets import Preliminary, RaceKind
from racetrap.golden_model.scord.params import ScordParams

#: Pulses of a metadata port, which its first bank has.
PORT_PULSES = ("stall_cycles", "metadata_write_errors")
#: Pulses of each bank; ``races_*`` and ``preliminary_*`` follow the enumerations.
BANK_PULSES = (
    "accesses",
    "fences",
    "unmonitored",
    *(f"preliminary_{kind.name.lower()}" for kind in Preliminary if kind),
    *(f"races_{kind.name.lower()}" for kind in RaceKind if kind),
    "tag_conflicts",
    "metadata_read_errors",
    "reports_dropped",
)
#: All pulses.
PULSES = (*BANK_PULSES, *PORT_PULSES)


def pulses_layout(params: ScordParams, names: tuple[str, ...] = PULSES) -> data.StructLayout:
    """One bit for each of some pulses, all by default; ``fences`` is a number."""
    widths = {"fences": params.fence_lanes.bit_length()}
    return data.StructLayout({name: widths.get(name, 1) for name in names})
