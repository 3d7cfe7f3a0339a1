"""Grids and blocks of one to three dimensions.

Ref: PTX ISA 9.0, Section 2.2 (thread hierarchy).
"""

from __future__ import annotations

from collections.abc import Sequence

Shape = tuple[int, int, int]


def position(index: int, shape: Shape) -> Shape:
    """Coordinates of a number; x counts fastest."""
    width, height, _ = shape
    return index % width, index // width % height, index // (width * height)


def number_of(place: Sequence[int], shape: Shape) -> int:
    """The number that has coordinates."""
    x, y, z = place
    width, height, _ = shape
    return x + (y + z * height) * width


def shape_text(shape: Shape) -> str:
    """A shape without the last dimensions of 1, such as ``32x2``."""
    dimensions = max((n for n, size in enumerate(shape, start=1) if size > 1), default=1)
    return "x".join(map(str, shape[:dimensions]))


def three_dimensions(what: str, value: int | Sequence[int]) -> Shape:
    """Three dimensions from one to three numbers.

    Raises
    ------
    ValueError
        If they are not one to three numbers of at least 1.
    """
    numbers = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(numbers) <= 3 or any(int(n) != n or n < 1 for n in numbers):
        raise ValueError(f"{what} must be one to three numbers of at least 1, not {value!r}")
    width, height, depth = (*map(int, numbers), 1, 1)[:3]
    return width, height, depth
