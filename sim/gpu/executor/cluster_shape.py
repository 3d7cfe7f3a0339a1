"""Clusters of a launch: what it asks for, within what its kernel declares.

Ref: PTX ISA 9.0, Section 11.6 (Cluster Dimension Directives).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from racetrap.golden_model.events import MOST_RANKS
from racetrap.sim.gpu.executor.machine.shapes import Shape, shape_text, three_dimensions
from racetrap.sim.gpu.ptx.kernel_names import written_name
from racetrap.sim.gpu.ptx.module import Function


class ClusterError(ValueError):
    """Clusters that a launch cannot have."""


def cluster_shape(kernel: Function, grid: Shape, asked: int | Sequence[int] | None) -> Shape | None:
    """Blocks of a cluster in each dimension; ``None`` of a launch without clusters.

    Parameters
    ----------
    kernel : Function
        The kernel.
    grid : Shape
        Blocks of the grid.
    asked : int or sequence of int, optional
        What the launch asks for.

    Raises
    ------
    ClusterError
        If the kernel declares another shape or fewer blocks, or needs clusters that the launch does
        not give, or the grid is not of whole clusters.
    """
    declared, name = kernel.cluster, written_name(kernel.name)
    shape = declared.shape if asked is None else _shape(asked)
    if declared.counts_grid:
        raise ClusterError(
            f"Grid of kernel {name} must be of blocks, not of clusters (.blocksareclusters)"
        )
    if shape is None:
        if declared.is_explicit:
            raise ClusterError(f"Launch of kernel {name} must give the shape of its clusters")
        return None
    if declared.shape not in (None, shape):
        raise ClusterError(
            f"Cluster of kernel {name} must be {shape_text(declared.shape)}, as it declares, "
            f"not {shape_text(shape)}"
        )
    most = min(MOST_RANKS, declared.most or MOST_RANKS)
    if prod(shape) > most:
        raise ClusterError(
            f"Cluster of kernel {name} must have at most {most} blocks, not {prod(shape)}"
        )
    if any(blocks % size for blocks, size in zip(grid, shape, strict=True)):
        raise ClusterError(
            f"Grid of kernel {name} must be of whole clusters of {shape_text(shape)} blocks, "
            f"not {shape_text(grid)}"
        )
    return shape


def _shape(asked: int | Sequence[int]) -> Shape:
    try:
        return three_dimensions("Cluster", asked)
    except ValueError as error:
        raise ClusterError(str(error)) from None
