"""Refutation of a forbidden outcome: a candidate execution with it that contradicts few axioms.

Ref: PTX ISA 9.0, Section 8.10 (Axioms).
"""

from __future__ import annotations

from itertools import combinations

from racetrap.golden_model.ptx_memory_model.axioms import AXIOMS, Axiom
from racetrap.golden_model.ptx_memory_model.candidates.candidate import Candidate
from racetrap.golden_model.ptx_memory_model.candidates.evaluation import Evaluation
from racetrap.golden_model.ptx_memory_model.candidates.final_state import final_states
from racetrap.golden_model.ptx_memory_model.candidates.runs import Run, locations_of
from racetrap.golden_model.ptx_memory_model.candidates.search import (
    Search,
    TooManyCandidatesError,
)
from racetrap.golden_model.ptx_memory_model.litmus.condition import Condition, observed_in
from racetrap.golden_model.ptx_memory_model.litmus.litmus_test import LitmusTest
from racetrap.golden_model.ptx_memory_model.relation import Relation

#: Maximum axioms to drop together, and maximum candidates in total.
_LEFT_OUT, _LIMIT = 3, 5_000


def nearest_candidate(test: LitmusTest, sought: Condition) -> Candidate | None:
    """A candidate execution that meets ``sought``, which no consistent one does, and contradicts
    the fewest axioms; None if these are more than three, or the search takes too long."""
    meets, left = _Meets(test, sought), _LIMIT
    for left_out in _choices():
        kept = [axiom for axiom in AXIOMS if axiom not in left_out]
        search = Search(test, left // 2, kept, meets.may_be_met)
        try:
            for found in search:
                for execution in found.executions():
                    candidate = Candidate(found.run, execution, found.evaluation)
                    if meets.is_met(candidate):
                        return candidate
        except TooManyCandidatesError:
            pass
        left -= search.candidates
    return None


def _choices() -> list[tuple[Axiom, ...]]:
    """Axioms to drop, the fewest first; Coherence counts as three, since an execution in which the
    initial value overwrites others explains little."""
    choices = [
        left_out
        for count in range(1, _LEFT_OUT + 1)
        for left_out in combinations(reversed(AXIOMS), count)
    ]
    return sorted(choices, key=lambda left_out: len(left_out) + 2 * (AXIOMS[0] in left_out))


class _Meets:
    """Whether candidates of a test meet a condition."""

    def __init__(self, test: LitmusTest, sought: Condition) -> None:
        self._sought, self._observed = sought, observed_in(sought)
        self._locations = locations_of(test.variables)

    def may_be_met(self, run: Run, evaluation: Evaluation) -> bool:
        """Whether some order of the writes meets it."""
        return self._holds(run, evaluation, Relation.empty(len(run.structure.events)))

    def is_met(self, candidate: Candidate) -> bool:
        """Whether it is met."""
        order = candidate.execution.coherence_order
        return self._holds(candidate.run, candidate.evaluation, order)

    def _holds(self, run: Run, evaluation: Evaluation, order: Relation) -> bool:
        states = final_states(run, evaluation, order, self._observed, self._locations)
        return any(map(self._sought.holds, states))
