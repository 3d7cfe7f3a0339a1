"""Sequential consistency of an execution: whether it is an interleaving of its threads.

The model does not require it; it separates weak outcomes from those of any memory.

Ref: PTX ISA 9.0, Section 8.9.1 (Program Order: what a sequential processor executes).
"""

from __future__ import annotations

from racetrap.golden_model.ptx_memory_model.execution import Execution
from racetrap.golden_model.ptx_memory_model.orders import orders_relating
from racetrap.golden_model.ptx_memory_model.relation import Relation


def is_sequentially_consistent(execution: Execution) -> bool:
    """Whether there is one order of all operations in which every read returns the latest write,
    and that keeps program order, barriers and the order of asynchronous operations."""
    structure = execution.structure
    memory = structure.reads | structure.writes
    nothing = Relation.empty(len(structure.events))
    kept = structure.base_causality(nothing).within(memory, memory)

    def is_possible(order: Relation) -> bool:
        whole = execution.with_coherence_order(order)
        return not (kept | whole.communication_order).closure().loops()

    pairs = structure.overlap.within(structure.writes, structure.writes)
    orders = orders_relating(pairs, execution.coherence_order, is_possible)
    # An empty order is valid, too.
    return next(orders, None) is not None
