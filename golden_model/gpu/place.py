"""Place of an event in a GPU of a detector's size."""

from __future__ import annotations

from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.params import GpuParams


def check_place(event: Event, params: GpuParams) -> None:
    """Raise ``ValueError`` if an event is out of range: it would silently hit another place."""
    warps = event.warp + max(event.warp_count, 1)
    for what, value, count in (
        ("SM", event.sm, params.sm_count),
        ("Block slot", event.slot, params.blocks_per_sm),
        ("Warp slot", warps - 1, params.warps_per_sm),
    ):
        if not 0 <= value < count:
            raise ValueError(f"{what} must be from 0 to {count - 1}, not {value}")
    if event.pc >> params.pc_bits:
        raise ValueError(f"PC must fit in {params.pc_bits} bits, not {event.pc:#x}")
