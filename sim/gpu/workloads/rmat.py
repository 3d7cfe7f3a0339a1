"""Random graphs with few vertices of high degree and many of low: R-MAT.

Ref: Chakrabarti, Zhan, Faloutsos, "R-MAT: A Recursive Model for Graph Mining", SDM 2004.
"""

from __future__ import annotations

import numpy as np

#: Probability that an edge is in the quadrant of the adjacency matrix selected by the next bit of
#: its source and of its target.
_QUADRANTS = (0.45, 0.15, 0.15, 0.25)


def rmat_edges(vertices: int, edges: int, random: np.random.Generator) -> np.ndarray:
    """Draw edges; none joins a vertex to itself, some may be equal.

    Parameters
    ----------
    vertices, edges : int
        How many.  The adjacency matrix is the next power of two; edges beyond ``vertices`` are
        drawn again.
    random : numpy.random.Generator
        Source of chance.

    Returns
    -------
    numpy.ndarray
        int32, one row for each edge, the larger vertex first.

    Raises
    ------
    ValueError
        If there are fewer than two vertices.
    """
    if vertices < 2:
        raise ValueError(f"R-MAT vertices must be at least 2, not {vertices}")
    found = np.empty((0, 2), dtype=np.int32)
    while len(found) < edges:
        drawn = _draw((vertices - 1).bit_length(), edges, random)
        good = (drawn < vertices).all(axis=1) & (drawn[:, 0] != drawn[:, 1])
        found = np.concatenate([found, drawn[good]])
    return -np.sort(-found[:edges], axis=1)


def _draw(levels: int, edges: int, random: np.random.Generator) -> np.ndarray:
    """Edges of a graph of ``2 ** levels`` vertices."""
    quadrants = random.choice(4, (edges, levels), p=_QUADRANTS)
    weights = 1 << np.arange(levels)
    return np.stack([(quadrants >> 1) @ weights, (quadrants & 1) @ weights], axis=1).astype(
        np.int32
    )
