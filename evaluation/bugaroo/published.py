"""Figures of the Bugaroo paper, for the columns beside our own.

Of Figures 3 and 4 the paper's text gives only what `FlushLengths` holds.

Ref: Bugaroo Sections IV-C and IV-D, Tables II, III and IV, Figures 3 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class PaperCounts(NamedTuple):
    """A row of Table II: what the threads of a program execute.

    Parameters
    ----------
    instructions, fences : int
        Executed instructions, and those of them that are fences.
    fence_places : int
        Fences in the source.
    shared_stores, global_stores : int
        Executed stores.
    """

    instructions: int
    fences: int
    fence_places: int
    shared_stores: int
    global_stores: int


class PaperTimes(NamedTuple):
    """A row of Table III: seconds of a run, and the overhead that the table prints in percent."""

    native: float
    instrumented: float
    overhead: float

    @property
    def recomputed(self) -> float:
        """Overhead in percent by the row's own times."""
        return 100 * (self.instrumented / self.native - 1)


class Failures(NamedTuple):
    """A row of Table IV: share of 1,000 runs that fail, by the probability that a store is held.

    Parameters
    ----------
    rates : tuple of float
        Share at probability 1, 0.75, 0.5 and 0.25.
    comment : str
        The paper's verdict on the fences.
    """

    rates: tuple[float, float, float, float]
    comment: str


class FlushLengths(NamedTuple):
    """A figure as the text gives it: stores that a buffer holds when it is flushed.

    Parameters
    ----------
    figure : str
        The figure.
    stores : str
        Stores that it is about.
    percent_of_one : float
        Share of flush length 1.
    """

    figure: str
    stores: str
    percent_of_one: float


#: Table II.
COUNTS: Mapping[str, PaperCounts] = MappingProxyType({
    "cbe_dot_2_fence": PaperCounts(1_076_216, 64, 2, 16_352, 32),
    "cbe_dot_1_fence": PaperCounts(1_075_828, 32, 1, 16_352, 32),
    "ct_octree": PaperCounts(31_362_438, 41, 1, 1_372_676, 15_623),
    "sdk_red": PaperCounts(999_846, 8_192, 1, 49_600, 130),
    "cub_scan": PaperCounts(2_769_764, 10_529, 3, 83_185, 62_435),
    "kmeans": PaperCounts(306_772, 0, 0, 0, 3_600),
    "streamcluster": PaperCounts(2_294_132_736, 0, 0, 0, 5_519_623),
    "hotspot": PaperCounts(1_841_064, 0, 0, 29_160, 4_096),
})  # fmt: skip

#: Table III.
TIMES: Mapping[str, PaperTimes] = MappingProxyType({
    "cbe_dot_2_fence": PaperTimes(2.760, 3.009, 9.02),
    "cbe_dot_1_fence": PaperTimes(2.447, 2.546, 4.05),
    "ct_octree": PaperTimes(2.792, 3.117, 11.64),
    "sdk_red": PaperTimes(2.335, 2.658, 13.83),
    "cub_scan": PaperTimes(2.761, 3.024, 9.53),
    "kmeans": PaperTimes(2.765, 2.907, 5.14),
    "streamcluster": PaperTimes(3.623, 7.895, 117.91),
    "hotspot": PaperTimes(2.654, 3.004, 13.91),
})  # fmt: skip

#: Last rows of Table III: they are ratios of mean and median times.
MEAN_OVERHEAD, MEDIAN_OVERHEAD = 27.21, 8.91

#: Table IV, by program and version.
FAILURES: Mapping[tuple[str, str], Failures] = MappingProxyType({
    ("cbe_dot", "original_2_fence"): Failures((0, 0, 0, 0), "overfenced"),
    ("cbe_dot", "1_fence"): Failures((0, 0, 0, 0), "optimal"),
    ("cbe_dot", "no_fence"): Failures((1, 1, 1, 1), "underfenced"),
    ("ct_octree", "original_no_fence"): Failures((1, 1, 1, 1), "underfenced"),
    ("ct_octree", "1_fence"): Failures((0, 0, 0, 0), "optimal"),
    ("sdk_red", "original_1_fence"): Failures((0, 0, 0, 0), "optimal"),
    ("sdk_red", "no_fence"): Failures((1, 1, 1, 1), "underfenced"),
    ("cub_scan", "original_all_3_fence"): Failures((0, 0, 0, 0), "optimal"),
    ("cub_scan", "f1_f2_fence"): Failures((0.002, 0, 0, 0), "underfenced"),
    ("cub_scan", "f1_f3_fence"): Failures((0.857, 0.714, 0.29, 0), "underfenced"),
    ("cub_scan", "f2_f3_fence"): Failures((0.001, 0, 0, 0), "underfenced"),
    ("cub_scan", "no_fence"): Failures((0.861, 0.51, 0.285, 0), "underfenced"),
})  # fmt: skip

#: Section IV-C; the longest of all is 34, of global stores in kmeans.
FLUSH_LENGTHS = (
    FlushLengths("Figure 3", "global", 69.71), FlushLengths("Figure 4", "shared", 72.24),
)  # fmt: skip
