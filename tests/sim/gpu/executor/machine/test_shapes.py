"""Shapes of grids and blocks as text."""

import pytest

from racetrap.sim.gpu.executor.machine.shapes import shape_text


@pytest.mark.parametrize(
    ("shape", "text"),
    [((1, 1, 1), "1"), ((32, 1, 1), "32"), ((32, 2, 1), "32x2"), ((4, 1, 2), "4x1x2")],
)
def test_last_dimensions_of_one_are_left_out(shape, text):
    assert shape_text(shape) == text
