"""Exploration of litmus tests: all outcomes of a memory model, or those within few deviations.

A run is repeated with other choices, depth first; a state seen before is not expanded again.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model.candidates import Judgement, Outcome
from racetrap.golden_model.ptx_memory_model.litmus import LitmusTest
from racetrap.golden_model.ptx_memory_model.litmus.condition import observed_in
from racetrap.golden_model.ptx_memory_model.operational.choices import Choices, Deviation, Kind
from racetrap.golden_model.ptx_memory_model.operational.machine import (
    Machine,
    Model,
    is_covered,
)
from racetrap.golden_model.ptx_memory_model.operational.memory import Sequential
from racetrap.golden_model.ptx_memory_model.operational.views import Views
from racetrap.golden_model.ptx_memory_model.operational.write_buffers import WriteBuffers

#: The operational models, by name.
MODELS: Mapping[str, Model] = MappingProxyType(
    {"sequential": Sequential, "write-buffers": WriteBuffers, "views": Views}
)


class Exploration(NamedTuple):
    """Result of an exploration.

    Parameters
    ----------
    outcomes : dict of tuple of int to tuple of Deviation
        For each final state, restricted to what the condition names, the memory deviations of the
        first run that reached it, fewest first.
    runs : int
        Runs made.
    """

    outcomes: dict[tuple[int, ...], tuple[Deviation, ...]]
    runs: int


class Comparison(NamedTuple):
    """Outcomes of a model, compared with those that the axioms allow.

    Parameters
    ----------
    exploration : Exploration
        Exploration of the model.
    forbidden : list of tuple of int
        Final states reached that no consistent execution has.
    missing : list of tuple of int
        Final states that are allowed but were not reached.
    weak, weak_shown : int
        Allowed final states that no interleaving has, and how many of them were reached.
    """

    exploration: Exploration
    forbidden: list[tuple[int, ...]]
    missing: list[tuple[int, ...]]
    weak: int
    weak_shown: int


class _Prefix(Choices):
    """Given options, then first ones; records the number of options."""

    def __init__(self, options: list[int]) -> None:
        super().__init__()
        self._given = options
        self.taken: list[tuple[Kind, int, int]] = []

    def _take(self, kind: Kind, options: int, load: tuple[int, int] | None) -> int:
        number = len(self.taken)
        option = self._given[number] if number < len(self._given) else 0
        self.taken.append((kind, option, options))
        return option


def explore(test: LitmusTest, model: Model, most: int | None = None) -> Exploration:
    """Run a test with all choices.

    Parameters
    ----------
    test : LitmusTest
        The test.
    model : callable
        Makes the memory of each run.
    most : int, optional
        Maximum deviations of memory; turns of threads are unlimited.
    """
    observed = observed_in(test.condition)
    outcomes: dict[tuple[int, ...], tuple[Deviation, ...]] = {}
    seen: set[Hashable] = set()
    left: list[list[int]] = [[]]
    runs = 0
    while left:
        given = left.pop()
        choices, runs = _Prefix(given), runs + 1
        machine = Machine(test, model, choices)
        ended = _run(machine, choices, len(given), seen, most)
        used = 0
        for number, (kind, option, options) in enumerate(choices.taken):
            is_deviation = kind is not Kind.TURN
            if number >= len(given):
                allowed = most is None or not is_deviation or used < most
                before = [taken for _, taken, _ in choices.taken[:number]]
                left += [[*before, other] for other in range(1, options) if allowed]
            used += is_deviation and option > 0
        if not ended:
            continue
        before_end = len(choices.taken)
        state = machine.final_state(observed)
        for number in range(max(before_end, len(given)), len(choices.taken)):
            before = [taken for _, taken, _ in choices.taken[:number]]
            left += [[*before, other] for other in range(1, choices.taken[number][2])]
        found = tuple(one for one in choices.deviations if one.kind is not Kind.TURN)
        if state not in outcomes or len(found) < len(outcomes[state]):
            outcomes[state] = found
    return Exploration(outcomes, runs)


def _run(
    machine: Machine, choices: _Prefix, given: int, seen: set[Hashable], most: int | None
) -> bool:
    """Run to the end; return whether all threads ended, through new states only."""
    while True:
        if len(choices.taken) >= given:
            used = sum(one.kind is not Kind.TURN for one in choices.deviations)
            key = machine.key() if most is None else (machine.key(), used)
            if key in seen:
                return False
            seen.add(key)
        if not machine.step():
            return not machine.is_stuck


def compare(judgement: Judgement, model: Model) -> Comparison | None:
    """Run a test exhaustively on a model, and compare with the axioms.

    Returns
    -------
    Comparison, optional
        Nothing if the axioms make no claim (a mixed-size race), or the machine does not cover the
        test (asynchronous copies).
    """
    if judgement.outcome is Outcome.NO_CLAIM or not is_covered(judgement.test):
        return None
    found = explore(judgement.test, model)
    allowed = {
        tuple(state.values.values()): state.sequentially_consistent for state in judgement.states
    }
    weak = {state for state, sequential in allowed.items() if not sequential}
    return Comparison(
        found,
        sorted(found.outcomes.keys() - allowed.keys()),
        sorted(allowed.keys() - found.outcomes.keys()),
        len(weak),
        len(weak & found.outcomes.keys()),
    )
