"""What ScoRD's paper has of its Section VI in figures, and the same counted from parameters.

The section names counters, a release file, lists of warps and bits of an entry, but no width and no
cost of any of them: only the share of metadata for global memory can be compared, which Section VI
leaves as it was.

Ref: ScoRD (ISCA'20) Sections IV-B, VI.
"""

from __future__ import annotations

from dataclasses import replace

from racetrap.fpga.cost.papers import Figure, Paper
from racetrap.golden_model.causality.params import CausalityParams


def _of_global_memory(params: CausalityParams) -> float:
    return 100 * replace(params, shared_bytes=0).metadata_overhead


PAPER = Paper(
    "ScoRD (ISCA'20), Section VI",
    CausalityParams(),
    (
        Figure("metadata for global memory", "%", 12.5, "Section IV-B", _of_global_memory,
               decimals=1),
    ),
)  # fmt: skip
