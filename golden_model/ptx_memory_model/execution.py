"""Execution: the source of each read, and the orders determined at run time.

Ref: PTX ISA 9.0, Sections 8.9.2 (Observation Order) to 8.9.7 (Communication Order).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from racetrap.golden_model.ptx_memory_model.relation import Relation
from racetrap.golden_model.ptx_memory_model.structure import EventStructure

#: Relations derived without the Fence-SC order, and without the coherence order.
_WITHOUT_FENCES = ("reads_from", "observation_order")
_WITHOUT_COHERENCE = (
    *_WITHOUT_FENCES, "synchronizes_with", "base_causality", "causality_order",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Execution:
    """A candidate execution, consistent or not.

    Parameters
    ----------
    structure : EventStructure
        Its events.
    sources : mapping of int to tuple of int
        For each event that reads, the write that every byte of its location was taken from.
    coherence_order : Relation
        Partial transitive order of overlapping writes: it relates those that are morally strong
        or related in causality order.
    fence_sc_order : Relation
        Partial transitive order of ``fence.sc`` operations: it relates those that are morally
        strong.
    """

    structure: EventStructure
    sources: Mapping[int, tuple[int, ...]]
    coherence_order: Relation
    fence_sc_order: Relation

    def with_coherence_order(self, order: Relation) -> Execution:
        """The same with another coherence order."""
        return self._changed(order, self.fence_sc_order, _WITHOUT_COHERENCE)

    def with_fence_sc_order(self, order: Relation) -> Execution:
        """The same with another Fence-SC order."""
        return self._changed(self.coherence_order, order, _WITHOUT_FENCES)

    def _changed(
        self, coherence_order: Relation, fence_sc_order: Relation, kept: tuple[str, ...]
    ) -> Execution:
        """A copy with other orders that keeps relations derived without them."""
        changed = Execution(self.structure, self.sources, coherence_order, fence_sc_order)
        vars(changed).update({name: value for name, value in vars(self).items() if name in kept})
        return changed

    @cached_property
    def reads_from(self) -> Relation:
        """From a write to the reads that return any byte of it."""
        pairs = ((write, read) for read, writes in self.sources.items() for write in writes)
        return Relation.of(len(self.structure.events), pairs)

    @cached_property
    def from_reads(self) -> Relation:
        """From a read to the writes that come later in coherence order than what it returned, for
        a byte that both access."""
        events, writers = self.structure.events, self.structure.writers
        rows = [0] * len(events)
        for read, writes in self.sources.items():
            address = events[read].location.address  # type: ignore[union-attr]
            for offset, source in enumerate(writes):
                later = self.coherence_order.rows[source] & writers[address + offset]
                rows[read] |= later & ~(1 << read)
        return Relation(rows)

    @cached_property
    def communication_order(self) -> Relation:
        """Communication order: reads-from, coherence order and from-reads.  Not transitive."""
        return self.reads_from | self.coherence_order | self.from_reads

    @cached_property
    def observation_order(self) -> Relation:
        """From a write to the reads that take its value, directly or through atomics; each step
        is morally strong."""
        events, morally_strong = self.structure.events, self.structure.morally_strong
        size = len(events)
        direct = Relation.of(
            size,
            (
                (writes[0], read)
                for read, writes in self.sources.items()
                if len(set(writes)) == 1 and (writes[0], read) in morally_strong
            ),
        )
        atomics = self.structure.events_where(lambda event: event.is_atomic and event.writes)
        if not direct.within(-1, atomics):
            return direct
        chains = direct.within(-1, atomics).closure()
        return direct | chains.then(direct)

    @cached_property
    def synchronizes_with(self) -> Relation:
        """Synchronising operations: fences in Fence-SC order, barriers, release and acquire
        patterns."""
        observed = self.observation_order
        patterns = (
            (pair.first, pair.last)
            for pair in self.structure.synchronizations
            if (pair.write, pair.read) in observed
        )
        size = len(self.structure.events)
        return Relation.of(size, patterns) | self.fence_sc_order | self.structure.barrier_order

    @cached_property
    def base_causality(self) -> Relation:
        """Base causality order, of all operations."""
        return self.structure.base_causality(self.synchronizes_with)

    @cached_property
    def causality_order(self) -> Relation:
        """Causality order, of memory operations on the same address."""
        preserved = self.structure.preserved(self.base_causality)
        return preserved | self.observation_order.then(preserved)
