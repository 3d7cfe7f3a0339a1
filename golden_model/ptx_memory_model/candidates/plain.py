"""All candidate executions of a litmus test, by definition: every source of every read, every
Fence-SC order and every coherence order, whether the axioms allow them or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from racetrap.golden_model.ptx_memory_model.candidates.candidate import Candidate
from racetrap.golden_model.ptx_memory_model.candidates.evaluation import (
    CyclicValueError,
    Evaluation,
)
from racetrap.golden_model.ptx_memory_model.candidates.runs import Run, runs
from racetrap.golden_model.ptx_memory_model.candidates.sources import Piece, pieces_of
from racetrap.golden_model.ptx_memory_model.execution import Execution
from racetrap.golden_model.ptx_memory_model.litmus.condition import (
    Condition,
    Conjunction,
    Disjunction,
    Equality,
    Negation,
)
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


def numbers_in(condition: Condition) -> list[int]:
    """Numbers that a condition compares with."""
    if isinstance(condition, Equality):
        return [condition.value]
    if isinstance(condition, Negation):
        return numbers_in(condition.part)
    if isinstance(condition, Conjunction | Disjunction):
        return sorted({number for part in condition.parts for number in numbers_in(part)})
    return []


def unfounded_evaluations(
    run: Run, pieces: Sequence[Piece], numbers: Sequence[int]
) -> Iterator[Evaluation]:
    """All choices of sources with all values that agree with them.

    Parameters
    ----------
    run : Run
        The run.
    pieces : sequence of Piece
        Pieces of its reads.
    numbers : sequence of int
        What is tried for values that depend on themselves.
    """
    for choice in product(*(piece.choices for piece in pieces)):
        sources: dict[int, tuple[int, ...]] = {}
        for piece, write in zip(pieces, choice, strict=True):
            sources[piece.read] = sources.get(piece.read, ()) + (write,) * piece.size
        yield from _evaluations(run, sources, {}, numbers)


def _evaluations(
    run: Run,
    sources: Mapping[int, tuple[int, ...]],
    assumed: dict[int, int],
    numbers: Sequence[int],
) -> Iterator[Evaluation]:
    """Values that agree with each other and with the paths of the run."""
    evaluation = Evaluation(run, sources, assumed)
    try:
        for value in (*run.values.values(), *run.registers.values()):
            evaluation.value(value)
        fits = evaluation.meets_requirements()
    except CyclicValueError as error:
        for number in numbers:
            yield from _evaluations(run, sources, {**assumed, error.read: number}, numbers)
        return
    if fits and all(evaluation.read(read) == number for read, number in assumed.items()):
        yield evaluation


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
