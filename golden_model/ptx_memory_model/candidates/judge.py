"""Judge: verdict of the model on a litmus test.

Ref: PTX ISA 9.0, Sections 8.7.2 (Limitations on Mixed-size Data-races) and 8.10 (Axioms).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.candidates.candidate import Candidate
from racetrap.golden_model.ptx_memory_model.candidates.final_state import final_states
from racetrap.golden_model.ptx_memory_model.candidates.refutation import nearest_candidate
from racetrap.golden_model.ptx_memory_model.candidates.runs import Run, locations_of
from racetrap.golden_model.ptx_memory_model.candidates.search import ConsistentSet, Search
from racetrap.golden_model.ptx_memory_model.litmus.condition import (
    Condition,
    Negation,
    Observed,
    Quantifier,
    observed_in,
)
from racetrap.golden_model.ptx_memory_model.litmus.errors import LitmusError
from racetrap.golden_model.ptx_memory_model.litmus.litmus_test import LitmusTest, RaceExpectation
from racetrap.golden_model.ptx_memory_model.races import PairClass, classify_conflicts
from racetrap.golden_model.ptx_memory_model.sequential import is_sequentially_consistent

#: Default limit of candidate executions.
DEFAULT_LIMIT = 100_000


class Outcome(Enum):
    """Verdict of the model on a condition."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    REQUIRED = "required"
    NO_CLAIM = "no claim"
    NEVER_ENDS = "never ends"


class RaceParty(NamedTuple):
    """One operation of a race.

    Parameters
    ----------
    thread, instruction : int
        Its thread, and the number of its instruction there.
    text : str
        The instruction.
    """

    thread: int
    instruction: int
    text: str


class Race(NamedTuple):
    """A data race of the program.

    Parameters
    ----------
    first, second : RaceParty
        The operations.
    is_mixed_size : bool
        Whether they overlap in part only.
    """

    first: RaceParty
    second: RaceParty
    is_mixed_size: bool


class FinalState(NamedTuple):
    """A final state that consistent executions have.

    Parameters
    ----------
    values : mapping
        Values of what the condition names.
    meets_condition : bool
        Whether it meets the condition.
    sequentially_consistent : bool
        Whether an interleaving of the threads reaches it, too.
    """

    values: Mapping[Observed, int]
    meets_condition: bool
    sequentially_consistent: bool


@dataclass(frozen=True)
class Judgement:
    """Verdict of the model on a test.

    Parameters
    ----------
    test : LitmusTest
        The test.
    outcome : Outcome
        ALLOWED if consistent executions meet the condition and others do not, REQUIRED if all do,
        FORBIDDEN if none does, NO_CLAIM if the program has a mixed-size race, NEVER_ENDS if every
        execution waits at a barrier forever and the test expects that.
    as_expected : bool
        Whether quantifier and expected races of the test agree with the outcome.
    states : tuple of FinalState
        Final states, restricted to what the condition names.
    races : tuple of Race
        Data races that consistent executions have.
    executions, candidates : int
        Number of consistent executions, and of candidates examined.
    witness : Candidate, optional
        A consistent execution that meets the condition (for ``forall``: does not meet it); if there
        is none, the nearest candidate with these values, if any.
    """

    test: LitmusTest
    outcome: Outcome
    as_expected: bool
    states: tuple[FinalState, ...]
    races: tuple[Race, ...]
    executions: int
    candidates: int
    witness: Candidate | None


def judge(test: LitmusTest, limit: int = DEFAULT_LIMIT) -> Judgement:
    """Judge a test.

    Parameters
    ----------
    test : LitmusTest
        The test.
    limit : int
        Maximum candidate executions to examine.

    Raises
    ------
    TooManyCandidatesError
        If the test has more.
    LitmusError
        If PTX leaves its use of barriers undefined, or all of its executions wait forever
        unexpectedly.
    """
    sought = test.condition
    if test.quantifier is Quantifier.FORALL:
        sought = Negation(test.condition)
    found = _Found(test, sought)
    search = Search(test, limit)
    try:
        for consistent in search:
            found.add(consistent)
    except RecursionError:
        sentence = (
            "Litmus test is too long: a value depends on too many others, one after the other"
        )
        raise LitmusError(test.file, 1, sentence) from None
    if not found.executions and test.ends:
        sentence = "Litmus test has no execution that ends: each waits at a barrier for ever"
        raise LitmusError(test.file, 1, sentence)
    outcome = found.outcome()
    witness = found.witness
    if witness is None and found.executions:
        witness = nearest_candidate(test, sought)
    return Judgement(
        test,
        outcome,
        _is_expected(test, outcome, found.races),
        found.final_states(),
        tuple(sorted(found.races)),
        found.executions,
        search.candidates,
        witness,
    )


def _is_expected(test: LitmusTest, outcome: Outcome, races: set[Race]) -> bool:
    expectation = RaceExpectation.NONE
    if races:
        mixed = any(race.is_mixed_size for race in races)
        expectation = RaceExpectation.MIXED_SIZE if mixed else RaceExpectation.DATA
    if test.races not in (None, expectation):
        return False
    if not test.ends or outcome is Outcome.NEVER_ENDS:
        return not test.ends and outcome is Outcome.NEVER_ENDS
    if outcome is Outcome.NO_CLAIM:
        return test.races is RaceExpectation.MIXED_SIZE
    expected = {
        Quantifier.EXISTS: (Outcome.ALLOWED, Outcome.REQUIRED),
        Quantifier.NOT_EXISTS: (Outcome.FORBIDDEN,),
        Quantifier.FORALL: (Outcome.REQUIRED,),
    }
    return outcome in expected[test.quantifier]


@dataclass
class _Found:
    """Findings in the consistent executions of a test so far."""

    test: LitmusTest
    sought: Condition
    executions: int = 0
    races: set[Race] = field(default_factory=set)
    witness: Candidate | None = None
    states: dict[tuple[int, ...], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._observed = observed_in(self.test.condition)
        self._locations = locations_of(self.test.variables)

    def add(self, consistent: ConsistentSet) -> None:
        """Add executions."""
        run, evaluation = consistent.run, consistent.evaluation
        self.executions += consistent.count
        self._add_races(consistent)
        for execution in consistent.executions():
            order = execution.coherence_order
            is_sequential: bool | None = None
            for state in final_states(run, evaluation, order, self._observed, self._locations):
                if self.witness is None and self.sought.holds(state):
                    self.witness = Candidate(run, execution, evaluation)
                key = tuple(state.values())
                if not self.states.get(key):
                    if is_sequential is None:
                        is_sequential = is_sequentially_consistent(execution)
                    self.states[key] = is_sequential

    def _add_races(self, consistent: ConsistentSet) -> None:
        for first, second, pair_class in classify_conflicts(consistent.execution):
            if pair_class.is_race:
                one, other = sorted(_party(consistent.run, event) for event in (first, second))
                self.races.add(Race(one, other, pair_class is PairClass.MIXED_SIZE_RACE))

    def final_states(self) -> tuple[FinalState, ...]:
        """The states, in ascending order."""
        found = []
        for numbers, is_sequential in sorted(self.states.items()):
            state = dict(zip(self._observed, numbers, strict=True))
            found.append(FinalState(state, self.test.condition.holds(state), is_sequential))
        return tuple(found)

    def outcome(self) -> Outcome:
        """Verdict of the model."""
        if not self.executions:
            return Outcome.NEVER_ENDS
        if any(race.is_mixed_size for race in self.races):
            return Outcome.NO_CLAIM
        met = {state.meets_condition for state in self.final_states()}
        if met == {True}:
            return Outcome.REQUIRED
        return Outcome.ALLOWED if True in met else Outcome.FORBIDDEN


def _party(run: Run, number: int) -> RaceParty:
    event = run.structure.events[number]
    return RaceParty(event.thread, run.instructions[number], event.text)
