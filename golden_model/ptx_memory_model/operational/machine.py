"""Machine: runs a litmus test on a memory, one choice after the other.

Ref: PTX ISA 9.0, Sections 9.7.9 (Data Movement) and 9.7.13 (Parallel Synchronization).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from racetrap.golden_model.ptx_memory_model.candidates.barriers import Barrier
from racetrap.golden_model.ptx_memory_model.candidates.runs import locations_of
from racetrap.golden_model.ptx_memory_model.candidates.values import (
    Constant,
    Result,
    Value,
    evaluate,
    operate,
    results_in,
)
from racetrap.golden_model.ptx_memory_model.events import Location, Order
from racetrap.golden_model.ptx_memory_model.litmus import LitmusTest
from racetrap.golden_model.ptx_memory_model.litmus import instructions as ptx
from racetrap.golden_model.ptx_memory_model.litmus.condition import Observed
from racetrap.golden_model.ptx_memory_model.operational.choices import Choices, Kind, Story
from racetrap.golden_model.ptx_memory_model.operational.memory import (
    ByteMemory,
    Memory,
    Pending,
    Strength,
)
from racetrap.golden_model.ptx_memory_model.scopes import Place

#: Makes a memory for one run: from bytes, the threads' places and choices.
Model = Callable[[ByteMemory, list[Place], Choices], Memory]
_STATE = ptx.DataType("b64")
_WARP_SIZE = 32
_UNCOVERED = (ptx.AsyncCopy, ptx.CommitGroup, ptx.WaitGroup, ptx.CopyArrive)


def is_covered(test: LitmusTest) -> bool:
    """Whether the machine supports every instruction: it has no asynchronous copies."""
    return not any(
        isinstance(instruction.operation, _UNCOVERED)
        for thread in test.threads
        for instruction in thread.instructions
    )


class NumberMemory(ByteMemory):
    """Bytes by their address."""

    def __init__(self) -> None:
        self.bytes: dict[int, int] = {}

    def read(self, location: Location) -> int:
        values = (self.bytes.get(address, 0) for address in location.bytes)
        return sum(value << 8 * number for number, value in enumerate(values))

    def write(self, location: Location, number: int) -> None:
        for offset, address in enumerate(location.bytes):
            self.bytes[address] = number >> 8 * offset & 0xFF


class _Thread:
    """State of a thread."""

    def __init__(self, number: int, registers: dict[str, Value]) -> None:
        self.number, self.registers = number, registers
        self.next = 0
        #: Barrier at which it waits; -1 for a cluster's at which it has arrived.
        self.waits_for: Barrier | None = None


class _Phase:
    """A phase of a barrier that has not completed."""

    def __init__(self) -> None:
        self.arrived: dict[int, ptx.CtaBarrier | ptx.WarpBarrier | ptx.ClusterBarrier] = {}
        self.given: list[object] = []
        self.predicates: list[int] = []


class Machine:
    """One run of a litmus test.

    Parameters
    ----------
    test : LitmusTest
        The test; `is_covered`.
    model : callable
        Makes the memory.
    choices : Choices
        Takes the choices.
    """

    def __init__(self, test: LitmusTest, model: Model, choices: Choices) -> None:
        self._test, self.choices = test, choices
        self._locations = locations_of(test.variables)
        self._bytes = NumberMemory()
        for variable in test.variables:
            value = variable.value
            if variable.is_mbarrier:
                value = value << 16 | value
            self._bytes.write(self._locations[variable.name], value)
        self._places = [thread.place for thread in test.threads]
        self.memory = model(self._bytes, self._places, choices)
        self._threads = [
            _Thread(number, {
                name: Constant(value)
                for (owner, name), value in test.registers.items() if owner == number
            })
            for number in range(len(test.threads))
        ]  # fmt: skip
        self._phases: dict[Barrier, _Phase] = {}
        #: Results of completed phases of a cluster's barrier, until each thread has waited.
        self._completed: dict[tuple[Barrier, int], list[object]] = {}
        self._pending: dict[Result, Pending] = {}

    # The run

    def ready(self) -> list[int]:
        """Threads that can run."""
        return [
            thread.number
            for thread in self._threads
            if thread.waits_for is None and not self._has_ended(thread.number)
        ]

    def step(self) -> bool:
        """Execute one instruction of a thread; return whether one could run."""
        ready = self.ready()
        if not ready:
            return False

        def story(option: int) -> Story:
            return Story(f"thread {ready[option]}", "runs instead of the others")

        thread = self._threads[ready[self.choices.take(Kind.TURN, len(ready), story)]]
        self._execute(thread)
        while thread.waits_for is None and self._is_private(thread):
            self._execute(thread)
        return True

    def _is_private(self, thread: _Thread) -> bool:
        """Whether a thread's next instruction is invisible to others."""
        if self._has_ended(thread.number):
            return False
        instructions = self._test.threads[thread.number].instructions
        if thread.next == len(instructions):
            return not self.memory.holds(thread.number)
        return isinstance(instructions[thread.next].operation, ptx.Arithmetic | ptx.Comparison)

    def _has_ended(self, number: int) -> bool:
        return self._threads[number].next > len(self._test.threads[number].instructions)

    @property
    def is_stuck(self) -> bool:
        """Whether a thread waits forever."""
        return any(thread.waits_for is not None for thread in self._threads)

    def final_state(self, observed: tuple[Observed, ...]) -> tuple[int, ...]:
        """Values when all threads have ended."""
        for pending in self._pending.values():
            pending.settle()
        return tuple(
            self._bytes.read(self._locations[what])
            if isinstance(what, str)
            else self._number(self._threads[what[0]].registers.get(what[1], Constant(0)))
            for what in observed
        )

    def key(self) -> Hashable:
        """State of the run; equal states have equal continuations."""
        names = {late: number for number, late in enumerate(self._pending)}
        threads = tuple(
            (thread.next, thread.waits_for, tuple(thread.registers.items()))
            for thread in self._threads
        )
        phases = tuple(
            (barrier, tuple(phase.arrived), tuple(phase.predicates))
            for barrier, phase in self._phases.items()
        )
        return (
            threads, phases, tuple(self._completed), len(names),
            tuple(sorted(self._bytes.bytes.items())), self.memory.key(),
        )  # fmt: skip

    # Instructions

    def _execute(self, thread: _Thread) -> None:
        instructions = self._test.threads[thread.number].instructions
        thread.next += 1
        if thread.next > len(instructions):
            self.memory.end(thread.number)
            for barrier in list(self._phases):
                self._complete(barrier)
            return
        instruction = instructions[thread.next - 1]
        self.memory.origin = f"P{thread.number}'s {instruction.operation}"
        guard = instruction.guard
        if guard is not None and bool(self._register(thread, guard.register)) == guard.negated:
            return
        _FORMS[type(instruction.operation)](self, thread, instruction.operation)

    def _number(self, value: Value) -> int:
        return evaluate(value, lambda result: self._pending[result].settle())

    def _value(self, thread: _Thread, operand: ptx.Operand) -> Value:
        if isinstance(operand, int):
            return Constant(operand)
        value = thread.registers.get(operand, Constant(0))
        for result in results_in(value):
            if self._pending[result].is_settled:
                return Constant(self._number(value))
        return value

    def _register(self, thread: _Thread, operand: ptx.Operand) -> int:
        return self._number(self._value(thread, operand))

    def _set(self, thread: _Thread, register: str, value: int) -> None:
        if register and register != "_":
            thread.registers[register] = Constant(value)

    def _location(self, address: ptx.Address, size: int, element: int = 0) -> Location:
        base = self._locations[address.variable].address
        return Location(base + address.offset + element * size, size)

    def _writes_later(self, thread: _Thread) -> bool:
        """Whether the thread may still have effects visible to others."""
        left = self._test.threads[thread.number].instructions[thread.next :]
        kinds = (ptx.Store, ptx.Atomic, ptx.MbarrierArrive)
        return any(isinstance(instruction.operation, kinds) for instruction in left)

    def _load(self, thread: _Thread, load: ptx.Load) -> None:
        strength = Strength(load.access.order, load.access.scope)
        for element, register in enumerate(load.destinations):
            location = self._location(load.address, load.type.size, element)
            waits = self._writes_later(thread) and register != "_"
            value = self.memory.load(thread.number, location, strength, waits)
            if isinstance(value, Pending):
                result = Result(thread.number, len(self._pending))
                self._pending[result] = value
                thread.registers[register] = result
            else:
                self._set(thread, register, value)

    def _store(self, thread: _Thread, store: ptx.Store) -> None:
        strength = Strength(store.access.order, store.access.scope)
        for element, source in enumerate(store.sources):
            location = self._location(store.address, store.type.size, element)
            self.memory.store(
                thread.number, location, self._stored(thread, store, source), strength
            )

    def _stored(self, thread: _Thread, store: ptx.Store, source: ptx.Operand) -> int | Pending:
        value = self._value(thread, source)
        if isinstance(value, Result) and self._pending[value].size == store.type.size:
            return self._pending[value]
        return self._number(operate("mov", store.type, value))

    def _atomic(self, thread: _Thread, atomic: ptx.Atomic) -> None:
        operands = [Constant(self._register(thread, operand)) for operand in atomic.operands]

        def update(old: int) -> int | None:
            before = Constant(old)
            if atomic.operation == "cas":
                equal = operate("eq", atomic.type, before, operands[0])
                if not self._number(equal):
                    return None
            return self._number(operate(atomic.operation, atomic.type, before, *operands))

        location = self._location(atomic.address, atomic.type.size)
        strength = Strength(atomic.access.order, atomic.access.scope)
        returns = not atomic.is_reduction
        old = self.memory.atomic(thread.number, location, update, strength, returns)
        if returns:
            self._set(thread, atomic.destination, old)

    def _fence(self, thread: _Thread, fence: ptx.Fence) -> None:
        self.memory.fence(thread.number, fence.order, fence.scope)

    def _mbarrier_arrive(self, thread: _Thread, arrive: ptx.MbarrierArrive) -> None:
        def update(old: int) -> int | None:
            return self._number(operate("arrive", _STATE, Constant(old)))

        location = self._location(arrive.address, 8)
        strength = Strength(arrive.order, arrive.scope)
        state = self.memory.atomic(thread.number, location, update, strength)
        self._set(thread, arrive.state, state)

    def _mbarrier_wait(self, thread: _Thread, wait: ptx.MbarrierWait) -> None:
        name = "parity_differs" if wait.by_parity else "phase_differs"
        phase = Constant(self._register(thread, wait.phase))
        location = self._location(wait.address, 8)
        value = self.memory.load(thread.number, location, Strength(Order.RELAXED, wait.scope))
        assert isinstance(value, int)
        done = self._number(operate(name, _STATE, Constant(value), phase))
        if done and wait.order.acquires:
            self.memory.fence(thread.number, Order.ACQUIRE, wait.scope)
        self._set(thread, wait.destination, int(bool(done)))

    def _calculate(self, thread: _Thread, operation: ptx.Arithmetic | ptx.Comparison) -> None:
        operands = [self._value(thread, source) for source in operation.sources]
        if operation.destination != "_":
            value = operate(operation.name, operation.type, *operands)
            thread.registers[operation.destination] = value

    # Barriers

    def _cta_barrier(self, thread: _Thread, barrier: ptx.CtaBarrier) -> None:
        predicate = 0
        if barrier.predicate is not None:
            register, negated = barrier.predicate
            predicate = int(bool(self._register(thread, register)) != negated)
        place = self._places[thread.number][:3]
        number = self._register(thread, barrier.barrier)
        if barrier.count is not None:
            barrier = replace(barrier, count=self._register(thread, barrier.count))
        self._arrive(thread, Barrier("cta", place, number), barrier, predicate)

    def _warp_barrier(self, thread: _Thread, barrier: ptx.WarpBarrier) -> None:
        place = self._places[thread.number][:4]
        self._arrive(thread, Barrier("warp", place, barrier.mask), barrier)

    def _cluster_barrier(self, thread: _Thread, barrier: ptx.ClusterBarrier) -> None:
        resource = Barrier("cluster", self._places[thread.number][:2])
        if barrier.action == "arrive":
            self._arrive(thread, resource, barrier)
        elif (resource, thread.number) in self._completed:
            given = self._completed.pop((resource, thread.number))
            self.memory.leave(thread.number, given)
        else:
            thread.waits_for = resource

    def _arrive(
        self, thread: _Thread, resource: Barrier,
        barrier: ptx.CtaBarrier | ptx.WarpBarrier | ptx.ClusterBarrier, predicate: int = 0,
    ) -> None:  # fmt: skip
        phase = self._phases.setdefault(resource, _Phase())
        phase.arrived[thread.number] = barrier
        phase.predicates.append(predicate)
        given = self.memory.arrive(thread.number)
        if not isinstance(barrier, ptx.ClusterBarrier) or barrier.order is not Order.RELAXED:
            phase.given.append(given)
        if isinstance(barrier, ptx.WarpBarrier) or (
            isinstance(barrier, ptx.CtaBarrier) and barrier.action != "arrive"
        ):
            thread.waits_for = resource
        self._complete(resource)

    def _complete(self, resource: Barrier) -> None:
        """Complete a phase if all its threads have arrived."""
        phase = self._phases[resource]
        counts = {
            barrier.count if isinstance(barrier, ptx.CtaBarrier) else None
            for barrier in phase.arrived.values()
        }
        missing = {
            place[:4]
            for number, place in enumerate(self._places)
            if resource.may_have(place)
            and number not in phase.arrived
            and (not self._has_ended(number) or self._threads[number].waits_for is not None)
        }
        (count,) = counts
        assert not isinstance(count, str)  # registers were read on arrival
        there = {self._places[number][:4] for number in phase.arrived} - missing
        if missing if count is None else _WARP_SIZE * len(there) < count:
            return
        del self._phases[resource]
        for number, barrier in phase.arrived.items():
            self._pass(self._threads[number], resource, phase, barrier)

    def _pass(
        self, thread: _Thread, resource: Barrier, phase: _Phase,
        barrier: ptx.CtaBarrier | ptx.WarpBarrier | ptx.ClusterBarrier,
    ) -> None:  # fmt: skip
        if thread.waits_for == resource:
            thread.waits_for = None
            self.memory.leave(thread.number, phase.given)
        elif isinstance(barrier, ptx.ClusterBarrier):
            self._completed[resource, thread.number] = phase.given
        if isinstance(barrier, ptx.CtaBarrier) and barrier.destination:
            true, count = sum(phase.predicates), len(phase.predicates)
            values = {"red.popc": true, "red.and": true == count, "red.or": true > 0}
            self._set(thread, barrier.destination, int(values[barrier.action]))


_FORMS: Mapping[type, Callable[[Machine, _Thread, Any], None]] = MappingProxyType({
    ptx.Load: Machine._load,
    ptx.Store: Machine._store,
    ptx.Atomic: Machine._atomic,
    ptx.Fence: Machine._fence,
    ptx.CtaBarrier: Machine._cta_barrier,
    ptx.WarpBarrier: Machine._warp_barrier,
    ptx.ClusterBarrier: Machine._cluster_barrier,
    ptx.MbarrierArrive: Machine._mbarrier_arrive,
    ptx.MbarrierWait: Machine._mbarrier_wait,
    ptx.Arithmetic: Machine._calculate,
    ptx.Comparison: Machine._calculate,
})  # fmt: skip
