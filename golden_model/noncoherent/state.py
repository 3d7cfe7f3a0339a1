"""Architectural state of a monitor, in bits, as the method needs it.

An implementation's registers, queues and buffers are not counted.

Ref: Young (UBC 2020) Section 3.3.
"""

from __future__ import annotations

from racetrap.golden_model.noncoherent.params import NoncoherentParams


def state_bits(params: NoncoherentParams) -> dict[str, int]:
    """Bits of the entries with their valid bits, or of a bitmap and the tag of the outside, by kind
    of set."""
    each = params.entries * (params.entry_layout.width + 1)
    names = params.set_names
    kinds = {"dirty": ("dirty_",), "valid": ("valid",), "stale": ("stale",),
             "dma": ("writing_", "reading_")}  # fmt: skip
    bits = {
        kind: each * sum(name.startswith(starts) for name in names)
        for kind, starts in kinds.items()
    }
    if params.window_bytes:
        bits["dirty"] = params.words * params.word_layout.width + 1 + params.tag_bits
    return bits
