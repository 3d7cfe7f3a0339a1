"""Cost figures of the paper, and the same counted from parameters.

Ref: ScoRD (ISCA'20) Sections IV-B, IV-C.
"""

from __future__ import annotations

from racetrap.fpga.cost.papers import Figure, Paper
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.state import state_bits

_BYTE = 8
_KILOBYTE = 1024


def _scord_sm_bytes(params: ScordParams) -> float:
    bits = state_bits(params)
    return (bits["barrier_ids"] + bits["lock_tables"]) / params.sm_count / _BYTE


PAPER = Paper(
    "ScoRD (ISCA'20)",
    ScordParams(),
    (
        Figure("barrier ids of an SM", "bits", 64, "Section IV-C",
               lambda params: state_bits(params)["barrier_ids"] / params.sm_count),
        Figure("lock table of a warp", "bits", 36, "Section IV-C",
               lambda params: state_bits(params)["lock_tables"]
               / (params.sm_count * params.warps_per_sm)),
        Figure("state of an SM", "bytes", 152, "Section IV-C", _scord_sm_bytes),
        Figure("fence files", "bytes", 720, "Section IV-C",
               lambda params: state_bits(params)["fence_files"] / _BYTE),
        Figure("state in all", "KB", 2.9, "Section IV-C",
               lambda params: sum(state_bits(params).values()) / _BYTE / _KILOBYTE, decimals=1),
        Figure("metadata for the data", "%", 12.5, "Section IV-B",
               lambda params: 100 * params.metadata_overhead, decimals=1),
    ),
)  # fmt: skip
