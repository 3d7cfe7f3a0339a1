"""All possible orders that are determined at run time.

Ref: PTX ISA 9.0, Sections 8.9.3 (Fence-SC Order) and 8.9.6 (Coherence Order).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from racetrap.golden_model.ptx_memory_model.relation import Relation


def orders_relating(
    pairs: Relation, start: Relation, is_possible: Callable[[Relation], bool]
) -> Iterator[Relation]:
    """All minimal partial orders that relate ``pairs``.

    Parameters
    ----------
    pairs : Relation
        Symmetric: the pairs that the order must relate, one way or the other.
    start : Relation
        Pairs in every order; transitively closed, without loops.
    is_possible : callable
        Whether an order is possible; if not, no larger one is.
    """
    size = len(start.rows)
    left = [start]
    while left:
        order = left.pop()
        if not is_possible(order):
            continue
        open_pairs = pairs - order - order.inverse()
        pair = next(iter(open_pairs), None)
        if pair is None:
            yield order
            continue
        left += [(order | Relation.of(size, [one])).closure() for one in (pair[::-1], pair)]
