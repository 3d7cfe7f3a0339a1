"""Orders that are determined at run time, in all ways.

Ref: PTX ISA 9.0, Sections 8.9.3 (Fence-SC Order) and 8.9.6 (Coherence Order).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from racetrap.golden_model.ptx_memory_model.relation import Relation


def orders_relating(
    pairs: Relation, start: Relation, is_possible: Callable[[Relation], bool]
) -> Iterator[Relation]:
    """All partial orders that relate ``pairs``, and nothing that need not be.

    Parameters
    ----------
    pairs : Relation
        Symmetric: the pairs that the order must relate, one way or the other.
    start : Relation
        What the order has in any case; closed, without loops.
    is_possible : callable
        Whether an order may be had; if not, none that has more of it may.
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
