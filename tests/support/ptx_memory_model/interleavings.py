"""Sequentially consistent runs of litmus tests as GPU traces: each thread is lane 0 of a warp.

``python -m tests.support.ptx_memory_model.interleavings --kernels 10000 --seed 1`` compares the
unordered pairs of both forms of the oracle in each run of random kernels, a third of them full of
``fence.sc``, another of barriers of some warps, with those of the axioms; prints every difference,
and exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import reduce
from itertools import chain, count, groupby
from typing import NamedTuple

from racetrap.golden_model.events import (
    WARP_SIZE,
    AtomicOp,
    DataRegion,
    Event,
    EventKind,
    Geometry,
    Lane,
    MemoryOrder,
    Scope,
    TraceHeader,
)
from racetrap.golden_model.ptx_memory_model import (
    Execution,
    PairClass,
    Relation,
    classify_conflicts,
    is_sequentially_consistent,
)
from racetrap.golden_model.ptx_memory_model.candidates import Search, TooManyCandidatesError
from racetrap.golden_model.ptx_memory_model.candidates.runs import Run
from racetrap.golden_model.ptx_memory_model.candidates.values import Constant, operate
from racetrap.golden_model.ptx_memory_model.events import Order
from racetrap.golden_model.ptx_memory_model.litmus import LitmusError, LitmusTest
from racetrap.golden_model.ptx_memory_model.litmus import instructions as ptx
from racetrap.golden_model.ptx_memory_model.scopes import Scope as PtxScope
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle import CompiledOracle, OracleRule
from tests.support.ptx_memory_model.printer import print_litmus
from tests.support.ptx_memory_model.random_tests import (
    random_barrier_kernel,
    random_fenced_kernel,
    random_kernel,
)
from tests.support.ptx_oracle.oracle import PtxOracle

_BASE, _PC_STEP = 0x1_0000, 0x1000
_MOST_RUNS, _MOST_CANDIDATES = 30, 1_000
_WRITERS = (random_kernel, random_fenced_kernel, random_barrier_kernel)
_ORDERS = {
    Order.ACQUIRE: MemoryOrder.ACQUIRE,
    Order.RELEASE: MemoryOrder.RELEASE,
    Order.ACQ_REL: MemoryOrder.ACQ_REL,
}
#: Thread and number of an instruction.
Operation = tuple[int, int]
_INITIAL: Operation = (-1, -1)
#: Two instructions, and whether both accesses may conflict.
Pairs = set[tuple[Operation, Operation, bool]]


#: Number of a barrier, and the block that it is of.
_Barrier = tuple[int, int]


class LeftOutError(Exception):
    """A test has more runs than are looked at; a barrier of the whole CTA that not all of its
    threads reach: by the ISA it orders only those that do, in a trace all; or one whose threads
    name different numbers, or arrive twice."""


@dataclass
class _State:
    """A run so far."""

    at: list[int]
    registers: list[dict[str, int]]
    memory: dict[int, int]
    events: list[Event] = field(default_factory=list)
    #: Accesses of each byte in order.
    signature: dict[int, tuple[Operation, ...]] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)
    #: Operations at barriers that have not been passed.
    arrived: dict[_Barrier, tuple[Operation, ...]] = field(default_factory=dict)
    #: Operations at barriers that have been passed, each before those that waited.
    meetings: frozenset[tuple[Operation, Operation]] = frozenset()

    def fork(self) -> _State:
        return _State(
            self.at.copy(), [each.copy() for each in self.registers], self.memory.copy(),
            self.events.copy(), self.signature.copy(), self.waiting.copy(), self.arrived.copy(),
            self.meetings,
        )  # fmt: skip

    def key(self) -> Hashable:
        """What tells it apart: where the threads are, and all that decides what they have seen."""
        arrived = frozenset((where, frozenset(those)) for where, those in self.arrived.items())
        return tuple(self.at), frozenset(self.signature.items()), arrived, self.meetings


class _Machine:
    def __init__(self, test: LitmusTest) -> None:
        self._test = test
        self._variables = {
            variable.name: _BASE + 64 * number for number, variable in enumerate(test.variables)
        }
        blocks = list(dict.fromkeys(thread.place[:3] for thread in test.threads))
        self._block = [blocks.index(thread.place[:3]) for thread in test.threads]
        self._warps = [self._block.count(number) for number in range(len(blocks))]
        self._warp = [self._block[:number].count(self._block[number]) for number in
                      range(len(test.threads))]  # fmt: skip

    def header(self) -> TraceHeader:
        return TraceHeader(
            geometry=Geometry(len(self._warps), 1, max(self._warps)),
            region=DataRegion(_BASE, 16), source=self._test.name,
        )  # fmt: skip

    def start(self) -> _State:
        registers: list[dict[str, int]] = [{} for _ in self._test.threads]
        for (thread, name), value in self._test.registers.items():
            registers[thread][name] = value
        memory = {}
        for variable in self._test.variables:
            for byte in range(variable.type.size):
                value = variable.value >> 8 * byte & 0xFF
                memory[self._variables[variable.name] + byte] = value
        placed = [
            Event(EventKind.BLOCK_PLACED, sm=number, warp_count=count, grid_block=number)
            for number, count in enumerate(self._warps)
        ]
        begin = [Event(EventKind.KERNEL_BEGIN), *placed]
        return _State([0] * len(registers), registers, memory, begin)

    def trace(self, state: _State) -> Trace:
        retired = [Event(EventKind.BLOCK_RETIRED, sm=sm) for sm in range(len(self._warps))]
        return Trace.from_events(
            self.header(), [*state.events, *retired, Event(EventKind.KERNEL_END)]
        )

    def runs(self) -> Iterator[_State]:
        seen = set()
        count = 0
        stack = [self.start()]
        while stack:
            state = stack.pop()
            key = state.key()
            if key in seen:
                continue
            seen.add(key)
            movable = self._movable(state)
            if not movable:
                count += 1
                if count > _MOST_RUNS:
                    raise LeftOutError
                if not state.waiting:
                    yield state
                continue
            # What meets no other thread needs no other order.
            local = [thread for thread in movable if not self._is_visible(state, thread)]
            for thread in local[:1] or movable:
                after = state.fork()
                self._step(after, thread)
                stack.append(after)

    def _instruction(self, state: _State, thread: int) -> ptx.Instruction | None:
        instructions = self._test.threads[thread].instructions
        return instructions[state.at[thread]] if state.at[thread] < len(instructions) else None

    def _movable(self, state: _State) -> list[int]:
        return [
            thread
            for thread in range(len(state.at))
            if thread not in state.waiting and self._instruction(state, thread) is not None
        ]

    def _is_visible(self, state: _State, thread: int) -> bool:
        instruction = self._instruction(state, thread)
        assert instruction is not None
        operation = instruction.operation
        if isinstance(operation, ptx.CtaBarrier):
            return operation.count is not None
        return isinstance(operation, ptx.Load | ptx.Store | ptx.Atomic)

    def _value(self, state: _State, thread: int, operand: ptx.Operand) -> int:
        return operand if isinstance(operand, int) else state.registers[thread].get(operand, 0)

    def _step(self, state: _State, thread: int) -> None:
        instruction = self._instruction(state, thread)
        assert instruction is not None
        guard = instruction.guard
        state.at[thread] += 1
        if not guard or bool(self._value(state, thread, guard.register)) != guard.negated:
            self._execute(state, thread, instruction.operation)
        self._release_barriers(state)

    def _execute(self, state: _State, thread: int, operation: ptx.Operation) -> None:
        if isinstance(operation, ptx.Arithmetic | ptx.Comparison):
            values = [Constant(self._value(state, thread, one)) for one in operation.sources]
            result = operate(operation.name, operation.type, *values)
            assert isinstance(result, Constant)
            state.registers[thread][operation.destination] = result.number
        elif isinstance(operation, ptx.Fence):
            scope = _scope(operation.scope)
            order = _ORDERS.get(operation.order, MemoryOrder.IMPLIED)
            state.events.append(self._event(EventKind.FENCE, thread, state, scope, order))
        elif isinstance(operation, ptx.CtaBarrier):
            self._arrive(state, thread, operation)
        else:
            assert isinstance(operation, ptx.Load | ptx.Store | ptx.Atomic)
            self._access(state, thread, operation)

    def _event(
        self, kind: EventKind, thread: int, state: _State, scope: Scope = Scope.BLOCK,
        order: MemoryOrder = MemoryOrder.IMPLIED,
    ) -> Event:  # fmt: skip
        pc = _PC_STEP * (thread + 1) + state.at[thread] - 1
        return Event(
            kind, sm=self._block[thread], warp=self._warp[thread], scope=scope, pc=pc, order=order,
            mask=1 if kind is EventKind.FENCE else 0,
        )  # fmt: skip

    def _arrive(self, state: _State, thread: int, barrier: ptx.CtaBarrier) -> None:
        where = self._block[thread], barrier.barrier
        arrived = state.arrived.get(where, ())
        if any(other == thread for other, _ in arrived):
            raise LeftOutError
        state.arrived[where] = (*arrived, (thread, state.at[thread] - 1))
        if barrier.action == "sync":
            state.waiting.add(thread)
        else:
            event = self._event(EventKind.BARRIER_ARRIVE, thread, state)
            state.events.append(event._replace(grid_block=barrier.barrier))

    def _release_barriers(self, state: _State) -> None:
        for where, arrived in tuple(state.arrived.items()):
            barriers = {each: self._barrier(each) for each in arrived}
            counts = {barrier.count for barrier in barriers.values()}
            if len(counts) > 1:
                raise LeftOutError
            block, number = where
            if not self._is_complete(state, block, len(arrived), *counts):
                continue
            waiting = [each for each, barrier in barriers.items() if barrier.action == "sync"]
            del state.arrived[where]
            state.waiting -= {thread for thread, _ in waiting}
            state.meetings |= {(one, other) for one in arrived for other in waiting if one != other}
            event = Event(EventKind.BARRIER, sm=block, pc=1)
            if counts != {None}:
                mask = sum(1 << self._warp[thread] for thread, _ in waiting)
                event = event._replace(kind=EventKind.PARTIAL_BARRIER, grid_block=number, mask=mask)
            state.events.append(event)

    def _barrier(self, operation: Operation) -> ptx.CtaBarrier:
        thread, number = operation
        barrier = self._test.threads[thread].instructions[number].operation
        assert isinstance(barrier, ptx.CtaBarrier)
        return barrier

    def _is_complete(self, state: _State, block: int, arrived: int, count: int | None) -> bool:
        if count is not None:
            return WARP_SIZE * arrived >= count
        members = [thread for thread, own in enumerate(self._block) if own == block]
        ended = [
            thread
            for thread in members
            if thread not in state.waiting and self._instruction(state, thread) is None
        ]
        if ended and arrived + len(ended) == len(members):
            raise LeftOutError
        return arrived == len(members)

    def _access(
        self, state: _State, thread: int, operation: ptx.Load | ptx.Store | ptx.Atomic
    ) -> None:
        access, size = operation.access, operation.type.size
        address = self._variables[operation.address.variable] + operation.address.offset
        old = sum(state.memory[address + byte] << 8 * byte for byte in range(size))
        for byte in range(address, address + size):
            own = (thread, state.at[thread] - 1)
            state.signature[byte] = (*state.signature.get(byte, ()), own)
        is_strong = access.scope is not None
        order = _ORDERS.get(access.order, MemoryOrder.IMPLIED)
        if access.order is Order.RELAXED and not access.volatile:
            order = MemoryOrder.RELAXED
        new, lane, kind = None, Lane(0, address), EventKind.LOAD
        op = AtomicOp.CAS
        if isinstance(operation, ptx.Store):
            kind, new = EventKind.STORE, self._value(state, thread, operation.sources[0])
            new %= 1 << 8 * size
            lane = Lane(0, address, new)
        elif isinstance(operation, ptx.Atomic):
            kind = EventKind.ATOMIC
            order = MemoryOrder.IMPLIED if order is MemoryOrder.RELAXED else order
            values = [self._value(state, thread, one) for one in operation.operands]
            succeeds = operation.operation != "cas" or values[0] % (1 << 8 * size) == old
            result = operate(operation.operation, operation.type, Constant(old),
                             *map(Constant, values))  # fmt: skip
            assert isinstance(result, Constant)
            new = result.number if succeeds else None
            if operation.operation == "cas":
                lane = Lane(0, address, values[1], values[0], succeeds)
            else:
                op = AtomicOp.OTHER
        if kind is not EventKind.STORE:
            names = getattr(operation, "destinations", None) or (operation.destination,)
            state.registers[thread][names[0]] = old
        if new is not None:
            for byte in range(size):
                state.memory[address + byte] = new >> 8 * byte & 0xFF
        scope = _scope(access.scope) if access.scope is not None else Scope.BLOCK
        event = self._event(kind, thread, state, scope, order)
        state.events.append(event._replace(strong=is_strong, size=size, lanes=(lane,), op=op))


def _scope(scope: PtxScope) -> Scope:
    return Scope.BLOCK if scope is PtxScope.CTA else Scope.DEVICE


@dataclass(frozen=True)
class Observations:
    """What a run decides: sources of its reads, operations that met at barriers, and the order of
    its writes to each byte; each operation as thread and number, the initial write as (-1, -1)."""

    sources: frozenset[tuple[Operation, Operation]]
    meetings: frozenset[tuple[Operation, Operation]]
    orders: frozenset[tuple[Operation, Operation]]


class Interleaving(NamedTuple):
    """A sequentially consistent run."""

    trace: Trace
    observations: Observations


class _Alike(NamedTuple):
    """Executions with the same values and the same order of morally strong writes."""

    observations: Observations
    is_sequential: bool
    unordered: Pairs
    has_race_of_writes: bool


@dataclass
class Comparison:
    """Oracle against axioms, over all runs of a test.

    Parameters
    ----------
    runs, beside : int
        Runs, and those in which the oracle has unordered pairs besides those of the axioms, as it
        may beside a race of two writes: it does not go back behind it in coherence order.
    differences : list
        Any other difference, as two sets of pairs: those of the oracle alone, of the axioms alone.
    sequential, whole : set
        Unordered pairs of the sequentially consistent executions, and of all executions.
    """

    runs: int = 0
    beside: int = 0
    differences: list[tuple[Pairs, Pairs]] = field(default_factory=list)
    sequential: Pairs = field(default_factory=set)
    whole: Pairs = field(default_factory=set)


def interleavings(test: LitmusTest) -> Iterator[Interleaving]:
    """One run for each order of accesses to every byte, and each way that barriers meet."""
    machine = _Machine(test)
    for state in list(machine.runs()):
        yield Interleaving(machine.trace(state), _observations(state))


def _observations(state: _State) -> Observations:
    sources, orders = set(), set()
    writes: defaultdict[int, list[Operation]] = defaultdict(lambda: [_INITIAL])
    for event in state.events:
        for lane in event.lanes:
            operation = operation_of(event.pc)
            for byte in range(lane.address, lane.address + event.size):
                if event.kind is not EventKind.STORE:
                    sources.add((operation, writes[byte][-1]))
                is_failed = event.op is AtomicOp.CAS and not lane.success
                if event.kind is EventKind.STORE or (
                    event.kind is EventKind.ATOMIC and not is_failed
                ):
                    orders.update((earlier, operation) for earlier in writes[byte])
                    writes[byte].append(operation)
    return Observations(frozenset(sources), state.meetings, frozenset(orders))


def operation_of(pc: int) -> Operation:
    """The instruction at a program counter of a trace."""
    return pc // _PC_STEP - 1, pc % _PC_STEP


def compare(test: LitmusTest, *oracles: type[PtxOracle | CompiledOracle]) -> Comparison:
    """Compare the unordered pairs that forms of the oracle find in each run of a test with those
    of the executions that are like the run."""
    result, runs = Comparison(), list(interleavings(test))
    groups: defaultdict[object, list[_Alike]] = defaultdict(list)
    for alike in _by_axioms(test):
        result.whole |= alike.unordered
        if alike.is_sequential:
            result.sequential |= alike.unordered
            groups[alike.observations.sources, alike.observations.meetings].append(alike)
    reached = set()
    for trace, observations in runs:
        result.runs += 1
        (alike,) = (
            each
            for each in groups[observations.sources, observations.meetings]
            if each.observations.orders <= observations.orders
        )
        reached.add(alike.observations)
        for oracle in oracles:
            found, expected = _by_oracle(trace, oracle), alike.unordered
            if found > expected and alike.has_race_of_writes:
                result.beside += 1
            elif found != expected:
                result.differences.append((found - expected, expected - found))
    for each in chain.from_iterable(groups.values()):
        if each.observations not in reached:
            result.differences.append((set(), each.unordered))
    return result


def _by_oracle(trace: Trace, oracle: type[PtxOracle | CompiledOracle]) -> Pairs:
    """Unordered pairs of a run, as a form of the oracle finds them."""
    result = oracle(OracleRule.PTX).run(trace)
    return {
        (*sorted(operation_of(party.pc) for party in (race.first, race.second)),
         race in result.unordered_strong)
        for race in (*result.races, *result.unordered_strong)
    }  # fmt: skip


def _by_axioms(test: LitmusTest) -> Iterator[_Alike]:
    search = Search(test, _MOST_CANDIDATES)
    for _, alike in groupby(search, key=lambda consistent: id(consistent.evaluation)):
        groups: defaultdict[Relation, list[Execution]] = defaultdict(list)
        for consistent in alike:
            run, structure = consistent.run, consistent.run.structure
            strong = structure.morally_strong.within(structure.writes, structure.writes)
            for execution in consistent.executions():
                groups[execution.coherence_order & strong].append(execution)
        for order, executions in groups.items():
            yield _alike(run, order, executions)


def _alike(run: Run, order: Relation, executions: list[Execution]) -> _Alike:
    """What executions are that differ in their Fence-SC orders: what all of these have counts."""
    forced = reduce(Relation.__and__, (each.fence_sc_order for each in executions))
    execution = executions[0].with_fence_sc_order(forced)
    structure = run.structure

    def operation(event: int) -> Operation:
        if run.instructions[event] < 0:
            return _INITIAL
        return structure.events[event].thread, run.instructions[event]

    pairs: Pairs = set()
    has_race_of_writes = False
    for first, second, pair_class in classify_conflicts(execution):
        if pair_class is not PairClass.ORDERED:
            is_strong = pair_class is PairClass.UNORDERED_STRONG
            pairs.add((*sorted(map(operation, (first, second))), is_strong))
            both_write = structure.events[first].writes and structure.events[second].writes
            has_race_of_writes |= both_write and not is_strong
    sources = execution.sources.items()
    observations = Observations(
        frozenset(
            (operation(read), operation(each)) for read, writes in sources for each in writes
        ),
        frozenset((operation(one), operation(other)) for one, other in structure.barrier_order),
        frozenset((operation(one), operation(other)) for one, other in order),
    )
    is_sequential = any(map(is_sequentially_consistent, executions))
    return _Alike(observations, is_sequential, pairs, has_race_of_writes)


def _races(pairs: Pairs) -> set[tuple[Operation, Operation]]:
    return {pair[:2] for pair in pairs if not pair[2]}


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", type=int, default=10_000, help="random kernels")
    parser.add_argument("--seed", type=int, default=1, help="first seed")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in count(arguments.seed):
        if counts["kernels"] == arguments.kernels:
            break
        test = _WRITERS[seed % len(_WRITERS)](seed)
        try:
            result = compare(test, PtxOracle, CompiledOracle)
        except (LeftOutError, TooManyCandidatesError, LitmusError):
            counts["left out: too many runs or candidates, or a barrier of some threads"] += 1
            continue
        racy = _races(result.sequential)
        counts["kernels"] += 1
        counts["runs"] += result.runs
        counts["with a race"] += bool(racy)
        counts["with a race that only weak executions reach"] += bool(_races(result.whole) - racy)
        counts[
            "runs and forms with pairs besides those of the axioms, beside a race of writes"
        ] += result.beside
        if result.differences:
            counts["different"] += 1
            print(print_litmus(test), *result.differences)
    for what, number in counts.items():
        print(f"{number:6} {what}")
    sys.exit(bool(counts["different"]))


if __name__ == "__main__":
    main()
