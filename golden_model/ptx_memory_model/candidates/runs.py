"""Runs of a litmus test: one path for each thread and one meeting of barriers, before the sources
of reads are chosen.

Ref: PTX ISA 9.0, Sections 8.2.6 (Initialization) and 8.9.4 (Memory synchronization: barriers).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from racetrap.golden_model.ptx_memory_model.candidates.barriers import Meeting, meetings
from racetrap.golden_model.ptx_memory_model.candidates.paths import Path
from racetrap.golden_model.ptx_memory_model.candidates.thread_paths import thread_paths
from racetrap.golden_model.ptx_memory_model.candidates.values import Constant, Result, Value
from racetrap.golden_model.ptx_memory_model.events import (
    INITIAL_THREAD,
    Event,
    EventKind,
    Location,
)
from racetrap.golden_model.ptx_memory_model.litmus.errors import LitmusError
from racetrap.golden_model.ptx_memory_model.litmus.litmus_test import LitmusTest, Variable
from racetrap.golden_model.ptx_memory_model.relation import Relation
from racetrap.golden_model.ptx_memory_model.structure import EventStructure

#: Distance of variables, which keeps them disjoint and aligned.
_STRIDE = 0x100


@dataclass(frozen=True, eq=False)
class Run:
    """Operations of all threads on the paths chosen.

    Parameters
    ----------
    structure : EventStructure
        The events; an initial write for each variable comes first.
    values : mapping of int to Value
        Value of each write, and the predicate of each reduction by a barrier.
    requirements : tuple of (Value, bool)
        Values of predicates that the paths require.
    registers : mapping of (int, str) to Value
        Registers at the end.
    numbers : mapping of Result to int
        Event of each result.
    reductions : mapping of int to (str, tuple of int)
        For each reduction by a barrier its operation, and the events that take part.
    instructions : tuple of int
        For each event the number of its instruction in its thread, or -1.
    """

    structure: EventStructure
    values: Mapping[int, Value]
    requirements: tuple[tuple[Value, bool], ...]
    registers: Mapping[tuple[int, str], Value]
    numbers: Mapping[Result, int]
    reductions: Mapping[int, tuple[str, tuple[int, ...]]]
    instructions: tuple[int, ...]


def locations_of(variables: Iterable[Variable]) -> dict[str, Location]:
    """Location of each variable."""
    return {
        variable.name: Location(_STRIDE * (number + 1), variable.type.size)
        for number, variable in enumerate(variables)
    }


def runs(test: LitmusTest) -> Iterator[Run]:
    """All runs of a test; none if every one of them waits forever at a barrier.

    Raises
    ------
    LitmusError
        If a use of a barrier is undefined in PTX.
    """
    locations = locations_of(test.variables)
    all_paths = [thread_paths(test, thread, locations) for thread in range(len(test.threads))]
    places = [thread.place for thread in test.threads]
    for paths in product(*all_paths):
        arrivals = [[step.arrival for step in path.steps if step.arrival] for path in paths]
        try:
            met = meetings(arrivals, places)
        except ValueError as error:
            raise LitmusError(test.file, 1, str(error)) from None
        for meeting in met:
            yield _Builder(test, paths, locations, meeting).run()


class _Builder:
    """Makes a run of paths and a meeting."""

    def __init__(
        self, test: LitmusTest, paths: Sequence[Path], locations: Mapping[str, Location],
        meeting: Meeting,
    ) -> None:  # fmt: skip
        self._test, self._paths, self._meeting = test, paths, meeting
        self._initial = [
            Event(EventKind.INITIAL, INITIAL_THREAD, location=locations[variable.name],
                  writes=True, text=f"{variable.name} = {variable.value}")
            for variable in test.variables
        ]  # fmt: skip
        self._numbers: dict[Result, int] = {}
        for thread, path in enumerate(paths):
            for step in range(len(path.steps)):
                self._numbers[Result(thread, step)] = len(self._initial) + len(self._numbers)
        self._size = len(self._initial) + len(self._numbers)

    def run(self) -> Run:
        """The run."""
        steps = [step for path in self._paths for step in path.steps]
        values: dict[int, Value] = {
            number: Constant(_initial_value(variable))
            for number, variable in enumerate(self._test.variables)
        }
        for number, step in enumerate(steps, len(self._initial)):
            if step.value is not None:
                values[number] = step.value
        registers = {
            (thread, name): value
            for thread, path in enumerate(self._paths)
            for name, value in path.registers.items()
        }
        return Run(
            self._structure(),
            values,
            tuple(one for path in self._paths for one in path.requirements),
            registers,
            self._numbers,
            self._reductions(),
            (*[-1] * len(self._initial), *(step.instruction for step in steps)),
        )

    def _structure(self) -> EventStructure:
        events = (*self._initial, *(step.event for path in self._paths for step in path.steps))
        return EventStructure(
            events,
            tuple(thread.place for thread in self._test.threads),
            self._relation(self._program_order()),
            self._relation(self._barrier_order()),
            self._relation(self._asynchronous_order()),
            self._relation(self._issue_order()),
            self._relation(self._dependency()),
        )

    def _relation(self, pairs: Iterable[tuple[int, int]]) -> Relation:
        return Relation.of(self._size, pairs)

    def _program_order(self) -> Iterator[tuple[int, int]]:
        for thread, path in enumerate(self._paths):
            for second, later in enumerate(path.steps):
                for first, earlier in enumerate(path.steps[:second]):
                    asynchronous = earlier.event.asynchronous or later.event.asynchronous
                    if not asynchronous and earlier.instruction != later.instruction:
                        yield (
                            self._numbers[Result(thread, first)],
                            self._numbers[Result(thread, second)],
                        )

    def _asynchronous_order(self) -> Iterator[tuple[int, int]]:
        for thread, path in enumerate(self._paths):
            for first, second in path.completions:
                yield self._numbers[Result(thread, first)], self._numbers[Result(thread, second)]

    def _issue_order(self) -> Iterator[tuple[int, int]]:
        for thread, path in enumerate(self._paths):
            for second, later in enumerate(path.steps):
                # An arrival for copies is ordered after these only.
                if later.event.asynchronous and not later.event.is_atomic:
                    for first, earlier in enumerate(path.steps[:second]):
                        if not earlier.event.asynchronous:
                            yield (
                                self._numbers[Result(thread, first)],
                                self._numbers[Result(thread, second)],
                            )

    def _barrier_order(self) -> Iterator[tuple[int, int]]:
        for completion in self._meeting:
            arrivals = [self._barrier_step(*member) for member in completion]
            for first in arrivals:
                for second in arrivals:
                    if first != second and self._arrives(first) and self._waits(second):
                        yield self._numbers[first], self._numbers[second]

    def _barrier_step(self, thread: int, arrival: int) -> Result:
        steps = self._paths[thread].steps
        barriers = [number for number, step in enumerate(steps) if step.arrival is not None]
        return Result(thread, barriers[arrival])

    def _arrives(self, step: Result) -> bool:
        arrival = self._paths[step.thread].steps[step.step].arrival
        return arrival is not None and arrival.arrives and arrival.releases

    def _waits(self, step: Result) -> bool:
        arrival = self._paths[step.thread].steps[step.step].arrival
        return arrival is not None and arrival.waits

    def _dependency(self) -> Iterator[tuple[int, int]]:
        for thread, path in enumerate(self._paths):
            for number, step in enumerate(path.steps):
                if step.event.writes:
                    for result in step.depends_on:
                        yield self._numbers[result], self._numbers[Result(thread, number)]

    def _reductions(self) -> dict[int, tuple[str, tuple[int, ...]]]:
        found = {}
        for completion in self._meeting:
            steps = sorted(self._barrier_step(*member) for member in completion)
            members = [
                (self._numbers[step], self._paths[step.thread].steps[step.step].arrival)
                for step in steps
            ]
            reducing = tuple(number for number, arrival in members if arrival and arrival.reduction)
            for number, arrival in members:
                if arrival and arrival.reduction:
                    found[number] = arrival.reduction, reducing
        return found


def _initial_value(variable: Variable) -> int:
    if variable.is_mbarrier:
        return variable.value << 16 | variable.value
    return variable.value
