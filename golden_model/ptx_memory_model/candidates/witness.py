"""Witness: a candidate execution as named operations, edges between them, and sentences on
contradicted axioms.

Ref: PTX ISA 9.0, Sections 8.9 (Ordering of memory operations) and 8.10 (Axioms).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.axioms import AXIOMS
from racetrap.golden_model.ptx_memory_model.candidates.candidate import Candidate
from racetrap.golden_model.ptx_memory_model.events import INITIAL_THREAD
from racetrap.golden_model.ptx_memory_model.relation import Relation


class EdgeKind(Enum):
    """Relation of an edge; the value is its name in pictures."""

    READS_FROM = "rf"
    COHERENCE = "co"
    FROM_READS = "fr"
    SYNCHRONIZES = "sw"
    BARRIER = "bar"
    FENCE_SC = "sc"

    @property
    def description(self) -> str:
        """Explanation of the name."""
        return _DESCRIPTIONS[self]


_DESCRIPTIONS = {
    EdgeKind.READS_FROM: "is read by",
    EdgeKind.COHERENCE: "precedes in coherence order",
    EdgeKind.FROM_READS: "reads what is older than",
    EdgeKind.SYNCHRONIZES: "synchronizes with",
    EdgeKind.BARRIER: "meets at a barrier",
    EdgeKind.FENCE_SC: "precedes in Fence-SC order",
}


class Node(NamedTuple):
    """One operation.

    Parameters
    ----------
    name : str
        A letter; for an initial write, the variable with its value.
    thread : int
        Its thread, or ``INITIAL_THREAD``.
    text : str
        The instruction.
    value : str
        Value that it reads, writes or returns, or empty.
    """

    name: str
    thread: int
    text: str
    value: str


class Edge(NamedTuple):
    """An edge between two nodes, by their names."""

    kind: EdgeKind
    first: str
    second: str


class Contradiction(NamedTuple):
    """An axiom that is contradicted.

    Parameters
    ----------
    axiom, section : str
        Its name, and where the ISA states it.
    sentence : str
        Why it does not hold.
    """

    axiom: str
    section: str
    sentence: str


class Witness(NamedTuple):
    """A candidate execution for people.

    Parameters
    ----------
    nodes : tuple of Node
        The operations; those of a thread in program order.
    edges : tuple of Edge
        Relations between them, without those that follow from others.
    contradictions : tuple of Contradiction
        Axioms that do not hold; none if the execution is consistent.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    contradictions: tuple[Contradiction, ...]


def witness_of(candidate: Candidate) -> Witness:
    """Witness of a candidate execution."""
    return _Builder(candidate).witness()


def _letters(number: int) -> str:
    """Name of operation ``number``: a to z, then aa, ab and so on."""
    name = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(ord("a") + letter) + name
    return name


class _Builder:
    """Makes the witness of a candidate."""

    def __init__(self, candidate: Candidate) -> None:
        self._candidate, self._execution = candidate, candidate.execution
        self._structure = candidate.execution.structure
        self._events = self._structure.events
        initial = sum(event.thread == INITIAL_THREAD for event in self._events)
        self._names = [
            event.text.replace(" ", "") if number < initial else _letters(number - initial)
            for number, event in enumerate(self._events)
        ]
        self._initial = (1 << initial) - 1

    def witness(self) -> Witness:
        """The witness."""
        nodes = tuple(
            Node(name, event.thread, event.text, self._value(number))
            for number, (name, event) in enumerate(zip(self._names, self._events, strict=True))
        )
        return Witness(nodes, tuple(self._edges()), tuple(self._contradictions()))

    def _value(self, number: int) -> str:
        """Values that an operation reads and writes."""
        event, evaluation = self._events[number], self._candidate.evaluation
        # The state of an mbarrier object is opaque.
        if event.location is None or "mbarrier" in event.text:
            return ""
        read = str(evaluation.read(number)) if event.reads else ""
        written = str(evaluation.written(number)) if event.writes else ""
        return " -> ".join(part for part in (read, written) if part)

    def _edges(self) -> Iterator[Edge]:
        execution, structure = self._execution, self._structure
        barriers = structure.barrier_order
        fences = execution.fence_sc_order
        patterns = execution.synchronizes_with - barriers - fences
        program_order = structure.program_order
        order = _reduced(execution.coherence_order)
        later = execution.from_reads
        relations = {
            EdgeKind.READS_FROM: execution.reads_from,
            EdgeKind.COHERENCE: order.within(~self._initial, -1),
            EdgeKind.FROM_READS: later - later.then(execution.coherence_order),
            EdgeKind.SYNCHRONIZES: patterns - program_order,
            EdgeKind.BARRIER: barriers,
            EdgeKind.FENCE_SC: _reduced(fences) - program_order,
        }
        for kind, relation in relations.items():
            for first, second in relation:
                yield Edge(kind, self._names[first], self._names[second])

    def _contradictions(self) -> Iterator[Contradiction]:
        for axiom in AXIOMS:
            events = axiom.contradiction(self._execution)
            if events:
                sentence = self._sentence(axiom.name, events)
                yield Contradiction(axiom.name, axiom.section, sentence)

    def _sentence(self, axiom: str, events: list[int]) -> str:
        first, second = self._names[events[0]], self._names[events[1]]
        if axiom == "No-Thin-Air":
            return f"values depend on themselves: {' -> '.join(self._names[e] for e in events)}"
        if axiom == "SC-per-Location":
            return f"these contradict each other: {self._cycle(events)}"
        if axiom == "Atomicity":
            if (events[1], events[0]) in self._execution.reads_from:
                return f"{first} takes some bytes of {second}, and some of an older write"
            return f"{second} comes between what {first} reads and what it writes"
        cause = f"{first} precedes {second} in causality order ({self._way(*events)})"
        if axiom == "Fence-SC":
            return f"{cause}, but not in Fence-SC order"
        if axiom == "Coherence":
            return f"{cause}, but not in coherence order"
        if (events[1], events[0]) in self._execution.reads_from:
            return f"{cause}, yet {first} reads from {second}"
        return f"{cause}, yet {second} reads what is older than {first}"

    def _cycle(self, events: list[int]) -> str:
        """A cycle of program order and communication order, step by step."""
        kinds = {
            "po": self._structure.program_order,
            "rf": self._execution.reads_from,
            "co": self._execution.coherence_order,
            "fr": self._execution.from_reads,
        }
        return self._steps(events, kinds)

    def _way(self, first: int, second: int) -> str:
        """Path from ``first`` to ``second`` in causality order, step by step."""
        structure, execution = self._structure, self._execution
        kinds = {
            "po": structure.program_order,
            "sc": execution.fence_sc_order,
            "bar": structure.barrier_order,
            "sw": execution.synchronizes_with,
            "async": structure.asynchronous_order | structure.issue_order,
            "launch": structure.fixed_causality,
        }
        steps = structure.fixed_causality | execution.synchronizes_with | structure.issue_order
        if (first, second) in execution.base_causality:
            return self._steps(steps.path(first, second), kinds)
        for read in range(len(self._events)):
            observed = (first, read) in execution.observation_order
            if observed and (read, second) in execution.base_causality:
                rest = self._steps(steps.path(read, second), kinds)
                return f"{self._names[first]} is observed by {rest}"
        raise AssertionError("Two operations in causality order must have a way")

    def _steps(self, events: list[int], kinds: dict[str, Relation]) -> str:
        text = self._names[events[0]]
        for first, second in pairwise(events):
            kind = next(name for name, relation in kinds.items() if (first, second) in relation)
            text += f" {kind} {self._names[second]}"
        return text


def _reduced(order: Relation) -> Relation:
    """Transitive reduction of an order."""
    return order - order.then(order)
