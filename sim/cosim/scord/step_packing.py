"""ScoRD's records as the trace ports show them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.scord.packets import Step
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.fast.packing import pack_records, words_of

__all__ = ["pack_steps"]


def pack_steps(params: ScordParams, steps: Sequence[Step]) -> NDArray[np.uint32]:
    """Steps as a bank's trace port shows them, in rows of 32-bit words."""
    layout = params.step_layout
    if not steps:
        return np.zeros((0, words_of(layout)), dtype=np.uint32)
    packets, *results = zip(*steps, strict=True)
    return pack_records(layout, [*zip(*packets, strict=True), *results])
