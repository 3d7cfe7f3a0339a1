"""The points that no other point beats."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["pareto_front"]


def pareto_front(costs: Sequence[Sequence[float]]) -> list[int]:
    """Numbers of the points for which no other is at least as low everywhere and lower somewhere.

    Equal points are on the front together.

    Parameters
    ----------
    costs : sequence of sequence of float
        For each point what is to be low, in one order.
    """
    return [
        number
        for number, mine in enumerate(costs)
        if not any(_dominates(other, mine) for other in costs)
    ]


def _dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
