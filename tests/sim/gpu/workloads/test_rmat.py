"""Random graphs."""

import numpy as np
import pytest

from racetrap.sim.gpu.workloads.rmat import rmat_edges


def degrees(vertices, edges, seed):
    drawn = rmat_edges(vertices, edges, np.random.default_rng(seed))
    return np.bincount(drawn.ravel(), minlength=vertices)


@pytest.mark.parametrize(("vertices", "edges"), [(2, 1), (3, 50), (64, 200), (1000, 1500)])
def test_edges_join_two_vertices_the_larger_first(vertices, edges):
    drawn = rmat_edges(vertices, edges, np.random.default_rng(7))
    assert drawn.shape == (edges, 2)
    assert drawn.dtype == np.int32
    assert drawn.min() >= 0
    assert drawn.max() < vertices
    assert (drawn[:, 0] > drawn[:, 1]).all()


def test_seed_decides():
    one, same, other = (rmat_edges(100, 300, np.random.default_rng(n)) for n in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_few_vertices_have_many_edges():
    """Beside a uniform graph, whose degrees spread like the square root of their mean."""
    for seed in range(5):
        found = degrees(1024, 5000, seed)
        assert found.std() > 2 * np.sqrt(found.mean())
        assert found.max() > 4 * found.mean()


def test_low_quadrant_is_the_densest():
    drawn = rmat_edges(1024, 20_000, np.random.default_rng(5))
    low = (drawn < 512).all(axis=1).mean()
    high = (drawn >= 512).all(axis=1).mean()
    assert low == pytest.approx(0.45, abs=0.02)
    assert high == pytest.approx(0.25, abs=0.02)


def test_one_vertex_is_refused():
    with pytest.raises(ValueError, match=r"^R-MAT vertices must be at least 2, not 1$"):
        rmat_edges(1, 5, np.random.default_rng(0))
