"""SigRace's records as the trace ports show them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.sigrace.packets import CoreStep
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.cosim.fast.packing import pack_records, words_of

__all__ = ["pack_steps"]


def pack_steps(params: SigraceParams, steps: Sequence[CoreStep]) -> NDArray[np.uint32]:
    """Steps as a core unit's trace port shows them, in rows of 32-bit words."""
    layout = params.core_step_layout
    if not steps:
        return np.zeros((0, words_of(layout)), dtype=np.uint32)
    events, *results = zip(*steps, strict=True)
    return pack_records(layout, [*zip(*events, strict=True), *results])
