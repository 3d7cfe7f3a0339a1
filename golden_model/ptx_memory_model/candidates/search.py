"""Consistent executions of a litmus test, found without enumerating all candidates.

Branches that an axiom already excludes are pruned: a partial choice of sources whose values do not
lead to the paths chosen, a partial order that contradicts an axiom.  This is sound because an
execution with more pairs in its orders contradicts every axiom that one with fewer does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from math import factorial

from racetrap.golden_model.ptx_memory_model.axioms import AXIOMS, Axiom
from racetrap.golden_model.ptx_memory_model.candidates.evaluation import Evaluation
from racetrap.golden_model.ptx_memory_model.candidates.runs import Run, runs
from racetrap.golden_model.ptx_memory_model.candidates.source_choices import SourceChoices
from racetrap.golden_model.ptx_memory_model.candidates.sources import pieces_of, without_impossible
from racetrap.golden_model.ptx_memory_model.candidates.unfounded import (
    numbers_in,
    unfounded_evaluations,
)
from racetrap.golden_model.ptx_memory_model.execution import Execution
from racetrap.golden_model.ptx_memory_model.litmus.litmus_test import LitmusTest
from racetrap.golden_model.ptx_memory_model.orders import orders_relating
from racetrap.golden_model.ptx_memory_model.relation import Relation, bits_of

#: Axioms that do not involve the coherence order, and those that a larger one may contradict;
#: Coherence holds since every order starts with what causality decides.
_BEFORE_COHERENCE = ("Fence-SC", "No-Thin-Air")
_BY_COHERENCE = ("SC-per-Location", "Atomicity", "Causality")


class TooManyCandidatesError(ValueError):
    """A test has more candidate executions than the limit.

    Parameters
    ----------
    test : LitmusTest
        The test.
    limit : int
        Maximum candidates to examine.
    """

    def __init__(self, test: LitmusTest, limit: int) -> None:
        super().__init__(
            f"{test.file}: Litmus test has more than {limit} candidate executions: "
            "take fewer accesses"
        )


@dataclass(frozen=True, eq=False)
class ConsistentSet:
    """Consistent executions that differ in coherence order alone.

    Parameters
    ----------
    run : Run
        What the threads do.
    evaluation : Evaluation
        Values.
    execution : Execution
        The execution without its coherence order.
    coherence_orders : tuple of tuple of Relation
        For each variable all orders of the writes to it; any combination is consistent.
    """

    run: Run
    evaluation: Evaluation
    execution: Execution
    coherence_orders: tuple[tuple[Relation, ...], ...]

    @cached_property
    def count(self) -> int:
        """How many executions there are."""
        count = 1
        for orders in self.coherence_orders:
            count *= len(orders)
        return count

    def executions(self) -> Iterator[Execution]:
        """All of them."""
        for orders in product(*self.coherence_orders):
            whole = self.execution.coherence_order
            for order in orders:
                whole = whole | order
            yield self.execution.with_coherence_order(whole)


class Search:
    """All consistent executions of a test.

    Parameters
    ----------
    test : LitmusTest
        The test.
    limit : int
        Maximum candidates to examine: choices of all sources, each with every Fence-SC order; also
        maximum coherence orders of a variable.
    axioms : sequence of Axiom
        The axioms that the executions keep.
    is_wanted : callable
        Whether executions with these values are wanted.

    Raises
    ------
    TooManyCandidatesError
        While iterating, if there are more.
    """

    def __init__(
        self, test: LitmusTest, limit: int, axioms: Sequence[Axiom] = AXIOMS,
        is_wanted: Callable[[Run, Evaluation], bool] = lambda run, evaluation: True,
    ) -> None:  # fmt: skip
        self._test, self._limit, self._is_wanted = test, limit, is_wanted
        self._axioms, self._names = axioms, {axiom.name for axiom in axioms}
        #: Candidates examined so far.
        self.candidates = 0

    def __iter__(self) -> Iterator[ConsistentSet]:
        for run in runs(self._test):
            if _least_executions(run) > self._limit:
                raise TooManyCandidatesError(self._test, self._limit)
            for evaluation in self._evaluations(run):
                if self._is_wanted(run, evaluation):
                    yield from self._with_values(run, evaluation)

    def _count(self) -> None:
        self.candidates += 1
        if self.candidates > self._limit:
            raise TooManyCandidatesError(self._test, self._limit)

    def _evaluations(self, run: Run) -> Iterator[Evaluation]:
        """Choices of sources, with the values that they lead to."""
        pieces = pieces_of(run)
        if "No-Thin-Air" not in self._names:
            numbers = numbers_in(self._test.condition)
            for evaluation in unfounded_evaluations(run, pieces, numbers):
                self._count()
                yield evaluation
            return
        if {"Causality", "Coherence"} <= self._names:
            pieces = without_impossible(run, pieces)
        is_exact = {"Atomicity", "SC-per-Location", "Coherence"} <= self._names
        is_possible = _is_free(run) if is_exact else _anything
        for sources in SourceChoices(run, pieces, is_possible, self._count):
            yield Evaluation(run, sources, {})

    def _with_values(self, run: Run, evaluation: Evaluation) -> Iterator[ConsistentSet]:
        structure = run.structure
        nothing = Relation.empty(len(structure.events))
        start = Execution(structure, evaluation.sources, nothing, nothing)
        fences = sum(1 << fence for fence in structure.sc_fences)
        pairs = structure.morally_strong.within(fences, fences)
        decided = nothing
        if "Fence-SC" in self._names:
            decided = (start.base_causality & pairs).closure()
        for number, order in enumerate(orders_relating(pairs, decided, _has_no_loops)):
            if number:
                self._count()
            execution = start.with_fence_sc_order(order)
            if not self._contradicts(execution, _BEFORE_COHERENCE):
                orders = self._coherence_orders(run, execution)
                if orders is not None:
                    yield ConsistentSet(run, evaluation, execution, orders)

    def _contradicts(self, execution: Execution, names: Collection[str]) -> bool:
        """Whether an execution contradicts one of the axioms that are kept and have these names."""
        return any(axiom.contradiction(execution) for axiom in self._axioms if axiom.name in names)

    def _coherence_orders(
        self, run: Run, execution: Execution
    ) -> tuple[tuple[Relation, ...], ...] | None:
        """For each variable all orders of its writes; None if one has none."""
        structure = run.structure
        writes = structure.writes
        causal = execution.causality_order.within(writes, writes)
        pairs = (structure.morally_strong & structure.overlap).within(writes, writes)
        if "Coherence" in self._names:
            decided = causal.closure()
        else:
            decided = Relation.empty(len(structure.events))
            pairs = pairs | ((causal | causal.inverse()) & structure.overlap)

        def is_possible(order: Relation) -> bool:
            if order.loops():
                return False
            whole = execution.with_coherence_order(decided | order)
            return not self._contradicts(whole, _BY_COHERENCE)

        orders = []
        for initial in _initial_writes(run):
            same = structure.overlap.rows[initial] & writes | 1 << initial
            found = orders_relating(
                pairs.within(same, same), decided.within(same, same), is_possible
            )
            orders.append(tuple(islice(found, self._limit + 1)))
            if not orders[-1]:
                return None
            if len(orders[-1]) > self._limit:
                raise TooManyCandidatesError(self._test, self._limit)
        return tuple(orders)


def _least_executions(run: Run) -> int:
    """Lower bound on the number of a run's consistent executions, without a search.

    Unordered writes to one location occur in any order in the interleavings of the threads, all of
    which are consistent; which of them the values lead to is left open.
    """
    if run.requirements:
        return 1
    structure = run.structure
    related = structure.fixed_causality.closure()
    unordered = (structure.morally_strong & structure.overlap) - related - related.inverse()
    most = 0
    for initial in _initial_writes(run):
        chosen: list[int] = []
        for write in bits_of(structure.overlap.rows[initial] & structure.writes):
            if all((write, other) in unordered for other in chosen):
                chosen.append(write)
        most = max(most, len(chosen))
    return factorial(most)


def _initial_writes(run: Run) -> list[int]:
    return [number for number, instruction in enumerate(run.instructions) if instruction < 0]


def _anything(read: int, write: int, sources: Mapping[int, tuple[int, ...]]) -> bool:
    return True


def _has_no_loops(order: Relation) -> bool:
    return not order.loops()


def _is_free(run: Run) -> Callable[[int, int, Mapping[int, tuple[int, ...]]], bool]:
    """Whether no morally strong atomic already has the source that an atomic would read: one of the
    two would come between the other's read and write, if their source precedes both in coherence
    order."""
    structure = run.structure
    strong = structure.morally_strong
    atomics = structure.events_where(lambda event: event.is_atomic and event.writes)
    initial = sum(1 << number for number in _initial_writes(run))

    def is_free(read: int, write: int, sources: Mapping[int, tuple[int, ...]]) -> bool:
        if not atomics >> read & 1:
            return True
        others = strong.rows[read] & atomics
        if not initial >> write & 1:
            others &= strong.rows[write] if (write, read) in strong else 0
        return not any(write in sources.get(other, ()) for other in bits_of(others))

    return is_free
