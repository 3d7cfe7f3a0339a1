"""Widths of the artefact's word, and the same counted from parameters.

Ref: HiRace (SC'24), its published artefact; the method is software there.
"""

from __future__ import annotations

from racetrap.fpga.cost.papers import Figure, Paper
from racetrap.golden_model.gpu.params import ENTRY_BITS
from racetrap.golden_model.hirace.params import LANE_BITS, STATE_BITS, HiraceParams

__all__ = ["PAPER"]

_PLACE = "artefact"

PAPER = Paper(
    "HiRace (SC'24)",
    HiraceParams(),
    (
        Figure("word", "bits", 64, _PLACE, lambda params: ENTRY_BITS),
        Figure("state", "bits", 5, _PLACE, lambda params: STATE_BITS),
        Figure("thread in its block", "bits", 10, _PLACE,
               lambda params: LANE_BITS + params.warp_bits),
        Figure("block", "bits", 15, _PLACE,
               lambda params: params.block_bits + params.generation_bits),
        Figure("block barriers", "bits", 16, _PLACE, lambda params: params.barrier_bits),
        Figure("warp barriers", "bits", 10, _PLACE, lambda params: params.warp_barrier_bits),
    ),
)  # fmt: skip
