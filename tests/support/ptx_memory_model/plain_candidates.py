"""All candidate executions of a litmus test, by definition: every source of every read, every
Fence-SC order and every coherence order, whether the axioms allow them or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from racetrap.golden_model.ptx_memory_model.candidates.candidate import Candidate
from racetrap.golden_model.ptx_memory_model.candidates.runs import Run, runs
from racetrap.golden_model.ptx_memory_model.candidates.sources import pieces_of
from racetrap.golden_model.ptx_memory_model.candidates.unfounded import (
    numbers_in,
    unfounded_evaluations,
)
from racetrap.golden_model.ptx_memory_model.execution import Execution
from racetrap.golden_model.ptx_memory_model.litmus.litmus_test import LitmusTest
from racetrap.golden_model.ptx_memory_model.orders import orders_relating
from racetrap.golden_model.ptx_memory_model.relation import Relation


def candidate_executions(test: LitmusTest) -> Iterator[Candidate]:
    """All candidate executions of a test whose values follow from each other.

    A value that depends on itself may be any; of these, the numbers that the condition names are
    tried.
    """
    numbers = numbers_in(test.condition)
    for run in runs(test):
        for evaluation in unfounded_evaluations(run, pieces_of(run), numbers):
            for execution in _executions(run, evaluation.sources):
                yield Candidate(run, execution, evaluation)


def _executions(run: Run, sources: Mapping[int, tuple[int, ...]]) -> Iterator[Execution]:
    """Executions with all orders that are determined at run time."""
    structure = run.structure
    nothing = Relation.empty(len(structure.events))
    fences = sum(1 << fence for fence in structure.sc_fences)
    sc_pairs = structure.morally_strong.within(fences, fences)
    for fence_sc_order in orders_relating(sc_pairs, nothing, _has_no_loops):
        execution = Execution(structure, sources, nothing, fence_sc_order)
        causal = execution.causality_order | execution.causality_order.inverse()
        related = (causal & structure.overlap) | (structure.morally_strong & structure.overlap)
        pairs = related.within(structure.writes, structure.writes)
        for coherence_order in orders_relating(pairs, nothing, _has_no_loops):
            yield execution.with_coherence_order(coherence_order)


def _has_no_loops(order: Relation) -> bool:
    return not order.loops()
