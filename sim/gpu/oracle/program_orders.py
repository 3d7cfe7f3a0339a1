"""Memory orders of a kernel's accesses and fences, as instructions name them.

Ref: PTX ISA 9.0, Section 8.8 (Release and Acquire Patterns).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.kernel import Kernel
from racetrap.golden_model.barracuda.operations import neighbours
from racetrap.golden_model.events import EventKind, MemoryOrder


class ProgramOrders(NamedTuple):
    """Orders of the events of a kernel.

    Parameters
    ----------
    orders : numpy.ndarray
        ``MemoryOrder`` of each event.  Traces that have none for an access tell it by the fences
        that are part of it.
    is_part : numpy.ndarray
        Which events are fences that are part of an access, and order by the access alone.
    """

    orders: np.ndarray
    is_part: np.ndarray

    @classmethod
    def of(cls, kernel: Kernel) -> ProgramOrders:
        """Orders of a kernel."""
        pc, orders = kernel.events["pc"], kernel.events["order"].astype(np.uint8)
        is_part = kernel.kind == EventKind.FENCE
        fences = np.flatnonzero(is_part)
        is_part[fences] = np.isin(pc[fences], np.unique(pc[kernel.accesses]))
        if is_part.any():
            near = neighbours(kernel)
            rows = np.flatnonzero(near.named & (orders == MemoryOrder.IMPLIED))
            before = (near.before[rows] != 0) & (pc[rows - 1] == pc[rows])
            after = (near.after[rows] != 0) & (pc[(rows + 1) % len(pc)] == pc[rows])
            one = np.where(before, MemoryOrder.RELEASE, MemoryOrder.ACQUIRE)
            orders[rows] = np.where(before & after, MemoryOrder.ACQ_REL, one)
        return cls(orders, is_part)
