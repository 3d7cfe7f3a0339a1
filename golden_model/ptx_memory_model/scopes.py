"""Scopes of PTX, and the place of a thread, which decides what a scope includes.

Ref: PTX ISA 9.0, Section 8.5 (Scope).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Scope(IntEnum):
    """Set of threads that may interact directly with a strong operation, narrowest first.

    A warp is not a scope.
    """

    CTA = 0
    CLUSTER = 1
    GPU = 2
    SYS = 3


class Place(NamedTuple):
    """Place of a thread.  Numbers count within the enclosing unit: CTA 0 of cluster 0 is not CTA 0
    of cluster 1.

    Parameters
    ----------
    gpu, cluster, cta, warp, lane : int
        Numbers of the device, of the cluster in it, of the CTA in the cluster, of the warp in the
        CTA and of the lane in the warp.
    """

    gpu: int = 0
    cluster: int = 0
    cta: int = 0
    warp: int = 0
    lane: int = 0


#: Numbers of a place that are the same throughout a scope.
_SHARED_LEVELS = {Scope.CTA: 3, Scope.CLUSTER: 2, Scope.GPU: 1}


def includes(scope: Scope, executing: Place, other: Place) -> bool:
    """Whether ``scope``, as an operation of the thread at ``executing`` names it, includes the
    thread at ``other``."""
    if scope is Scope.SYS:
        return True
    shared_levels = _SHARED_LEVELS[scope]
    return executing[:shared_levels] == other[:shared_levels]
