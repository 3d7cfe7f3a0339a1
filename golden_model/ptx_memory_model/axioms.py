"""The axioms of PTX's memory consistency model, one predicate each.

Ref: PTX ISA 9.0, Section 8.10 (Axioms).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.execution import Execution
from racetrap.golden_model.ptx_memory_model.relation import bits_of


def coherence(execution: Execution) -> list[int]:
    """Coherence: a write that precedes an overlapping write in causality order precedes it in
    coherence order; so no write precedes itself.

    Returns
    -------
    list of int
        Two writes in causality order that contradict it, or nothing.
    """
    writes = execution.structure.writes
    contradictions = execution.causality_order.within(writes, writes) - execution.coherence_order
    return list(next(iter(contradictions), ()))


def fence_sc(execution: Execution) -> list[int]:
    """Fence-SC: of two morally strong ``fence.sc``, the one that precedes in causality order
    precedes in Fence-SC order.

    Returns
    -------
    list of int
        Two fences in base causality order that contradict it, or nothing.
    """
    structure = execution.structure
    fences = sum(1 << fence for fence in structure.sc_fences)
    caused = execution.base_causality.within(fences, fences)
    unordered = structure.morally_strong - execution.fence_sc_order
    contradictions = caused & (execution.fence_sc_order.inverse() | unordered)
    return list(next(iter(contradictions), ()))


def atomicity(execution: Execution) -> list[int]:
    """Atomicity: a read does not mix bytes of a morally strong write with those of an earlier
    write; no morally strong write comes between the read and the write of an atomic.

    Returns
    -------
    list of int
        The read and the write, or nothing.
    """
    structure, order = execution.structure, execution.coherence_order
    for read in execution.sources:
        later = execution.from_reads.rows[read] & structure.morally_strong.rows[read]
        for write in bits_of(later):
            if (write, read) in execution.reads_from:
                return [read, write]
            if structure.events[read].is_atomic and (write, read) in order:
                return [read, write]
    return []


def no_thin_air(execution: Execution) -> list[int]:
    """No-Thin-Air: no value depends on itself through dependencies and communication.

    Returns
    -------
    list of int
        Reads that form the cycle, or nothing.
    """
    flow = execution.structure.dependency.then(execution.reads_from)
    for read in flow.closure().loops():
        return flow.path(read, read)
    return []


def sc_per_location(execution: Execution) -> list[int]:
    """SC-per-Location: program order of overlapping operations and morally strong communication
    together have no cycle.

    Returns
    -------
    list of int
        A cycle, or nothing.
    """
    structure = execution.structure
    steps = (structure.program_order & structure.overlap) | (
        structure.morally_strong & execution.communication_order
    )
    for event in steps.closure().loops():
        return steps.path(event, event)
    return []


def causality(execution: Execution) -> list[int]:
    """Causality: a read does not take a value from a write that it precedes in causality order,
    nor one that is older than a write that precedes it.

    Returns
    -------
    list of int
        Two operations in causality order that contradict it, or nothing.
    """
    backwards = (execution.reads_from | execution.from_reads).inverse()
    return list(next(iter(execution.causality_order & backwards), ()))


class Axiom(NamedTuple):
    """An axiom.

    Parameters
    ----------
    name : str
        Its name in the ISA.
    section : str
        Where the ISA states it.
    contradiction : callable
        Events of an execution that contradict it; empty if it holds.
    """

    name: str
    section: str
    contradiction: Callable[[Execution], list[int]]


#: All axioms, in the order of the ISA.
AXIOMS = (
    Axiom("Coherence", "8.10.1", coherence),
    Axiom("Fence-SC", "8.10.2", fence_sc),
    Axiom("Atomicity", "8.10.3", atomicity),
    Axiom("No-Thin-Air", "8.10.4", no_thin_air),
    Axiom("SC-per-Location", "8.10.5", sc_per_location),
    Axiom("Causality", "8.10.6", causality),
)


def violated_axioms(execution: Execution) -> dict[str, list[int]]:
    """Names of the axioms that an execution contradicts, each with events that show it."""
    found = ((axiom.name, axiom.contradiction(execution)) for axiom in AXIOMS)
    return {name: events for name, events in found if events}
