"""Paths of a thread: one for each combination of outcomes of its predicates and atomics.

Ref: PTX ISA 9.0, Sections 8.2.4 (Vector Data Types), 8.9.1.1 (Asynchronous Operations) and
9.7.13 (Parallel Synchronization).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from racetrap.golden_model.ptx_memory_model.candidates.barriers import Arrival, Barrier
from racetrap.golden_model.ptx_memory_model.candidates.paths import Path, Step
from racetrap.golden_model.ptx_memory_model.candidates.values import (
    Constant,
    Operation,
    Result,
    Value,
    operate,
    results_in,
)
from racetrap.golden_model.ptx_memory_model.events import (
    Event,
    EventKind,
    Location,
    Order,
    check_barrier,
)
from racetrap.golden_model.ptx_memory_model.litmus import instructions as ptx
from racetrap.golden_model.ptx_memory_model.litmus.errors import LitmusError
from racetrap.golden_model.ptx_memory_model.litmus.litmus_test import LitmusTest
from racetrap.golden_model.ptx_memory_model.scopes import Scope

_STATE = ptx.DataType("b64")
_WEAK = ptx.Access()


def thread_paths(test: LitmusTest, thread: int, locations: Mapping[str, Location]) -> list[Path]:
    """All paths of a thread; registers begin with 0.

    Parameters
    ----------
    test : LitmusTest
        The test.
    thread : int
        Number of the thread.
    locations : mapping of str to Location
        Where each variable lies.

    Raises
    ------
    LitmusError
        If PTX does not allow an operand of a barrier.
    """
    start = Path()
    for (owner, name), number in test.registers.items():
        if owner == thread:
            start.registers[name] = Constant(number)
    paths = [start]
    for number, instruction in enumerate(test.threads[thread].instructions):
        walker = _Walker(test, thread, locations, number)
        try:
            paths = [after for path in paths for after in walker.walk(path, instruction)]
        except ValueError as error:
            raise LitmusError(test.file, instruction.line, str(error)) from None
    return paths


class _Walker:
    """Extends paths of a thread by one instruction."""

    def __init__(
        self, test: LitmusTest, thread: int, locations: Mapping[str, Location], number: int
    ) -> None:
        self._test, self._thread, self._locations = test, thread, locations
        self._instruction_number = number
        self._place = test.threads[thread].place
        self._instruction = test.threads[thread].instructions[number]
        self._guard: frozenset[Result] = frozenset()

    def walk(self, path: Path, instruction: ptx.Instruction) -> Iterator[Path]:
        """The paths that continue ``path``."""
        form, guard = _FORMS[type(instruction.operation)], instruction.guard
        self._guard = frozenset()
        if guard is None:
            yield from form(self, path, instruction.operation)
            return
        predicate = self._read(path, guard.register)
        self._guard = self._control(path, guard.register) | results_in(predicate)
        for holds, side in _sides(path, predicate):
            if holds != guard.negated:
                yield from form(self, side, instruction.operation)
            else:
                self._leave(side)
                yield side

    def _leave(self, path: Path) -> None:
        """Keep the registers of an instruction that its guard disables."""
        operation = self._instruction.operation
        names = [getattr(operation, "destination", ""), getattr(operation, "state", "")]
        for name in (*names, *getattr(operation, "destinations", ())):
            if name in path.registers:
                path.controls[name] = self._guard | self._control(path, name)

    def _read(self, path: Path, operand: ptx.Operand) -> Value:
        if isinstance(operand, int):
            return Constant(operand)
        return path.registers.get(operand, Constant(0))

    def _number(self, path: Path, operand: ptx.Operand) -> int:
        """Value of an operand that must not come from memory."""
        value = self._read(path, operand)
        if not isinstance(value, Constant):
            raise ValueError(f"Operand {operand} of a barrier depends on memory")
        return value.number

    def _control(self, path: Path, *operands: ptx.Operand) -> frozenset[Result]:
        """Results that decided operands and this instruction, but do not enter a value."""
        controls = (path.controls.get(one, frozenset()) for one in operands if one in path.controls)
        return self._guard.union(*controls)

    def _write(self, path: Path, register: str, value: Value, control: frozenset[Result]) -> None:
        if register != "_":
            path.registers[register], path.controls[register] = value, control

    def _event(
        self, kind: EventKind, access: ptx.Access = _WEAK,
        location: Location | None = None, writes: bool = False, asynchronous: bool = False,
    ) -> Event:  # fmt: skip
        return Event(
            kind, self._thread, access.order, access.scope, location, writes, access.volatile,
            asynchronous=asynchronous, text=str(self._instruction.operation),
        )  # fmt: skip

    def _add(
        self, path: Path, event: Event, value: Value | None = None,
        control: frozenset[Result] = frozenset(), arrival: Arrival | None = None,
    ) -> Result:  # fmt: skip
        """Append a step; return its result."""
        depends_on = self._guard | control | (results_in(value) if value is not None else set())
        path.steps.append(Step(event, self._instruction_number, value, depends_on, arrival))
        return Result(self._thread, len(path.steps) - 1)

    def _next(self, path: Path) -> Result:
        """Result of the next step."""
        return Result(self._thread, len(path.steps))

    def _location(self, address: ptx.Address, size: int, element: int = 0) -> Location:
        base = self._locations[address.variable].address
        return Location(base + address.offset + element * size, size)

    def _load(self, path: Path, load: ptx.Load) -> Iterator[Path]:
        for element, register in enumerate(load.destinations):
            location = self._location(load.address, load.type.size, element)
            result = self._add(path, self._event(EventKind.LOAD, load.access, location))
            self._write(path, register, result, self._guard)
        yield path

    def _store(self, path: Path, store: ptx.Store) -> Iterator[Path]:
        for element, source in enumerate(store.sources):
            location = self._location(store.address, store.type.size, element)
            event = self._event(EventKind.STORE, store.access, location, writes=True)
            value = operate("mov", store.type, self._read(path, source))
            self._add(path, event, value, self._control(path, source))
        yield path

    def _atomic(self, path: Path, atomic: ptx.Atomic) -> Iterator[Path]:
        operands = [self._read(path, operand) for operand in atomic.operands]
        control = self._control(path, *atomic.operands)
        old = self._next(path)
        sides: Iterator[tuple[bool, Path]] = iter([(True, path)])
        if atomic.operation == "cas":
            equal = operate("eq", atomic.type, old, operands[0])
            sides, control = _sides(path, equal), control | results_in(equal)
        for succeeds, side in sides:
            kind = EventKind.REDUCTION if atomic.is_reduction else EventKind.ATOMIC
            location = self._location(atomic.address, atomic.type.size)
            event = self._event(kind, atomic.access, location, writes=succeeds)
            new = operate(atomic.operation, atomic.type, old, *operands)
            self._add(side, event, new if succeeds else None, control)
            if not atomic.is_reduction:
                self._write(side, atomic.destination, old, self._guard)
            yield side

    def _fence(self, path: Path, fence: ptx.Fence) -> Iterator[Path]:
        access = ptx.Access(fence.order, fence.scope)
        self._add(path, self._event(EventKind.FENCE, access))
        yield path

    def _cta_barrier(self, path: Path, barrier: ptx.CtaBarrier) -> Iterator[Path]:
        number, count = self._number(path, barrier.barrier), None
        if barrier.count is not None:
            count = self._number(path, barrier.count)
        check_barrier(number, count)
        resource = Barrier("cta", self._place[:3], number)
        waits, reduction = barrier.action != "arrive", barrier.action.partition(".")[2]
        arrival = Arrival(resource, True, waits, True, count, reduction)
        value, control = None, self._guard
        if barrier.predicate is not None:
            register, negated = barrier.predicate
            name = "eq" if negated else "ne"
            value = operate(name, ptx.DataType("u32"), self._read(path, register), Constant(0))
            control = self._control(path, register)
        result = self._add(path, self._event(EventKind.BARRIER), value, control, arrival)
        if barrier.destination:
            self._write(path, barrier.destination, result, self._guard)
        yield path

    def _warp_barrier(self, path: Path, barrier: ptx.WarpBarrier) -> Iterator[Path]:
        resource = Barrier("warp", self._place[:4], barrier.mask)
        arrival = Arrival(resource, True, True)
        self._add(path, self._event(EventKind.BARRIER), arrival=arrival)
        yield path

    def _cluster_barrier(self, path: Path, barrier: ptx.ClusterBarrier) -> Iterator[Path]:
        resource, arrives = Barrier("cluster", self._place[:2]), barrier.action == "arrive"
        releases = barrier.order is not Order.RELAXED
        arrival = Arrival(resource, arrives, not arrives, releases)
        self._add(path, self._event(EventKind.BARRIER), arrival=arrival)
        yield path

    def _copy(self, path: Path, copy: ptx.AsyncCopy) -> Iterator[Path]:
        source = self._location(copy.source, copy.size)
        load = self._event(EventKind.LOAD, location=source, asynchronous=True)
        result = self._add(path, load)
        target = self._location(copy.destination, copy.size)
        store = self._event(EventKind.STORE, location=target, writes=True, asynchronous=True)
        stored = self._add(path, store, result).step
        path.completions.append((result.step, stored))
        path.copies.append(stored)
        path.groups[-1].append(stored)
        yield path

    def _commit_group(self, path: Path, _: ptx.CommitGroup) -> Iterator[Path]:
        path.groups.append([])
        yield path

    def _wait_group(self, path: Path, wait: ptx.WaitGroup) -> Iterator[Path]:
        if wait.pending is None:
            path.groups.append([])
        complete = len(path.groups) - 1 - (wait.pending or 0)
        step = self._add(path, self._event(EventKind.COMPLETION)).step
        for group in path.groups[: max(complete, 0)]:
            path.completions += [(copy, step) for copy in group]
        path.groups[: max(complete, 0)] = []
        yield path

    def _mbarrier_arrive(self, path: Path, arrive: ptx.MbarrierArrive) -> Iterator[Path]:
        access = ptx.Access(arrive.order, arrive.scope)
        location = self._location(arrive.address, 8)
        before = self._next(path)
        after = operate("arrive", _STATE, before)
        event = self._event(EventKind.ATOMIC, access, location, writes=True)
        self._add(path, event, after)
        self._write(path, arrive.state, before, self._guard)
        yield path

    def _mbarrier_wait(self, path: Path, wait: ptx.MbarrierWait) -> Iterator[Path]:
        name = "parity_differs" if wait.by_parity else "phase_differs"
        phase = self._read(path, wait.phase)
        read = self._next(path)
        for done, side in _sides(path, operate(name, _STATE, read, phase)):
            access = ptx.Access(wait.order if done else Order.RELAXED, wait.scope)
            location = self._location(wait.address, 8)
            self._add(side, self._event(EventKind.LOAD, access, location))
            control = self._control(side, wait.phase) | {read}
            self._write(side, wait.destination, Constant(int(done)), control)
            yield side

    def _copy_arrive(self, path: Path, arrive: ptx.CopyArrive) -> Iterator[Path]:
        access = ptx.Access(Order.RELEASE, Scope.CTA)
        location = self._location(arrive.address, 8)
        after = operate("arrive", _STATE, self._next(path))
        event = self._event(EventKind.ATOMIC, access, location, writes=True, asynchronous=True)
        step = self._add(path, event, after).step
        path.completions += [(copy, step) for copy in path.copies]
        yield path

    def _arithmetic(self, path: Path, arithmetic: ptx.Arithmetic) -> Iterator[Path]:
        self._calculate(path, arithmetic.name, arithmetic)
        yield path

    def _comparison(self, path: Path, comparison: ptx.Comparison) -> Iterator[Path]:
        self._calculate(path, comparison.name, comparison)
        yield path

    def _calculate(self, path: Path, name: str, operation: ptx.Arithmetic | ptx.Comparison) -> None:
        operands = [self._read(path, source) for source in operation.sources]
        value = operate(name, operation.type, *operands)
        varies = not all(isinstance(operand, Constant) for operand in operands)
        # A result that is the same for all operands does not depend on them.
        independent = varies and isinstance(value, Constant)
        control = self._guard if independent else self._control(path, *operation.sources)
        self._write(path, operation.destination, value, control)


def _sides(path: Path, predicate: Value) -> Iterator[tuple[bool, Path]]:
    """Both values of a predicate, or the known one."""
    known = _known(path, predicate)
    if known is not None:
        yield known, path
        return
    for holds in (False, True):
        side = path.fork()
        side.requirements.append((predicate, holds))
        yield holds, side


def _known(path: Path, predicate: Value) -> bool | None:
    """Value of a predicate, if it is constant or already required by the path."""
    if isinstance(predicate, Constant):
        return bool(predicate.number)
    for value, wanted in path.requirements:
        if value == predicate:
            return wanted
        if isinstance(value, Operation) and value.negation() == predicate:
            return not wanted
    return None


_FORMS: Mapping[type, Callable[[_Walker, Path, Any], Iterator[Path]]] = MappingProxyType({
    ptx.Load: _Walker._load,
    ptx.Store: _Walker._store,
    ptx.Atomic: _Walker._atomic,
    ptx.Fence: _Walker._fence,
    ptx.CtaBarrier: _Walker._cta_barrier,
    ptx.WarpBarrier: _Walker._warp_barrier,
    ptx.ClusterBarrier: _Walker._cluster_barrier,
    ptx.AsyncCopy: _Walker._copy,
    ptx.CommitGroup: _Walker._commit_group,
    ptx.WaitGroup: _Walker._wait_group,
    ptx.MbarrierArrive: _Walker._mbarrier_arrive,
    ptx.MbarrierWait: _Walker._mbarrier_wait,
    ptx.CopyArrive: _Walker._copy_arrive,
    ptx.Arithmetic: _Walker._arithmetic,
    ptx.Comparison: _Walker._comparison,
})  # fmt: skip
