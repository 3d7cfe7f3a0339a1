"""Sequentially consistent runs of litmus tests as GPU traces: each thread is lane 0 of a warp.

``python -m tests.support.ptx_memory_model.interleavings --kernels 10000 --seed 1`` compares the
races of both forms of the oracle in all runs of random kernels with those of the axioms; it prints
every difference, and exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby

from racetrap.golden_model.events import (
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
from racetrap.golden_model.ptx_memory_model.litmus import LitmusError, LitmusTest, print_litmus
from racetrap.golden_model.ptx_memory_model.litmus import instructions as ptx
from racetrap.golden_model.ptx_memory_model.oracle import OracleRule, PtxOracle
from racetrap.golden_model.ptx_memory_model.scopes import Scope as PtxScope
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle import CompiledOracle
from tests.support.ptx_memory_model.random_tests import random_kernel

__all__ = ["Pairs", "by_axioms", "by_oracle", "interleavings", "main"]

_BASE, _PC_STEP = 0x1_0000, 0x1000
_MOST_RUNS, _MOST_CANDIDATES = 400, 20_000
_ORDERS = {
    Order.ACQUIRE: MemoryOrder.ACQUIRE,
    Order.RELEASE: MemoryOrder.RELEASE,
    Order.ACQ_REL: MemoryOrder.ACQ_REL,
}
#: Two instructions, each as thread and number, and whether both accesses may conflict.
Pairs = set[tuple[tuple[int, int], tuple[int, int], bool]]


class LeftOutError(Exception):
    """A test has more interleavings than are looked at, or a barrier that not all threads of a
    CTA reach: by the ISA it orders only those that do, in a trace it is of the whole block."""


@dataclass
class _State:
    """A run so far."""

    at: list[int]
    registers: list[dict[str, int]]
    memory: dict[int, int]
    events: list[Event] = field(default_factory=list)
    #: Accesses of each byte, and barriers, in order: what tells runs apart.
    signature: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    waiting: set[int] = field(default_factory=set)

    def fork(self) -> _State:
        return _State(
            self.at.copy(), [each.copy() for each in self.registers], self.memory.copy(),
            self.events.copy(), self.signature.copy(), self.waiting.copy(),
        )  # fmt: skip


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
            movable = self._movable(state)
            if not movable:
                key = tuple(sorted(state.signature.items()))
                count += 1
                if count > _MOST_RUNS:
                    raise LeftOutError
                if not state.waiting and key not in seen:
                    seen.add(key)
                    yield state
                continue
            # What touches no memory needs no other order.
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
        return isinstance(instruction.operation, ptx.Load | ptx.Store | ptx.Atomic)

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
            state.waiting.add(thread)
        else:
            assert isinstance(operation, ptx.Load | ptx.Store | ptx.Atomic)
            self._access(state, thread, operation)

    def _event(
        self, kind: EventKind, thread: int, state: _State, scope: Scope, order: MemoryOrder
    ) -> Event:
        pc = _PC_STEP * (thread + 1) + state.at[thread] - 1
        return Event(
            kind, sm=self._block[thread], warp=self._warp[thread], scope=scope, pc=pc, order=order,
            mask=1 if kind is EventKind.FENCE else 0,
        )  # fmt: skip

    def _release_barriers(self, state: _State) -> None:
        for block in range(len(self._warps)):
            members = [t for t, own in enumerate(self._block) if own == block]
            waiting = [t for t in members if t in state.waiting]
            ended = [t for t in members if t not in waiting and self._instruction(state, t) is None]
            if waiting and len(waiting) + len(ended) == len(members):
                if ended:
                    raise LeftOutError
                state.waiting -= set(waiting)
                state.events.append(Event(EventKind.BARRIER, sm=block, pc=1))

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


def interleavings(test: LitmusTest) -> Iterator[Trace]:
    """One trace for each set of runs with the same order of accesses to every byte."""
    machine = _Machine(test)
    for state in machine.runs():
        yield machine.trace(state)


def by_oracle(test: LitmusTest, oracle: type[PtxOracle] = PtxOracle) -> Pairs:
    """Unordered pairs of all runs, as a form of the oracle finds them."""
    pairs: Pairs = set()
    for trace in interleavings(test):
        result = oracle(OracleRule.PTX).run(trace)
        for race in (*result.races, *result.unordered_strong):
            one, other = sorted(
                (party.pc // _PC_STEP - 1, party.pc % _PC_STEP)
                for party in (race.first, race.second)
            )
            pairs.add((one, other, race in result.unordered_strong))
    return pairs


def by_axioms(test: LitmusTest) -> tuple[Pairs, Pairs]:
    """Unordered pairs of the sequentially consistent executions, and of all executions.  Of the
    Fence-SC orders that executions with the same values and the same order of morally strong
    writes have, what is in all of them counts."""
    sequential: Pairs = set()
    whole: Pairs = set()
    search = Search(test, _MOST_CANDIDATES)
    for _, alike in groupby(search, key=lambda consistent: id(consistent.evaluation)):
        groups: defaultdict[Relation, list[Execution]] = defaultdict(list)
        for consistent in alike:
            run = consistent.run
            structure = run.structure
            strong = structure.morally_strong.within(structure.writes, structure.writes)
            for execution in consistent.executions():
                groups[execution.coherence_order & strong].append(execution)
        for executions in groups.values():
            pairs = _unordered(run, executions)
            whole |= pairs
            if any(map(is_sequentially_consistent, executions)):
                sequential |= pairs
    return sequential, whole


def _unordered(run: Run, executions: list[Execution]) -> Pairs:
    """Pairs that executions, alike but for their Fence-SC orders, leave unordered."""
    structure = run.structure
    forced = reduce(Relation.__and__, (each.fence_sc_order for each in executions))
    pairs: Pairs = set()
    execution = executions[0].with_fence_sc_order(forced)
    for first, second, pair_class in classify_conflicts(execution):
        if pair_class is not PairClass.ORDERED:
            one, other = sorted(
                (structure.events[event].thread, run.instructions[event])
                for event in (first, second)
            )
            pairs.add((one, other, pair_class is PairClass.UNORDERED_STRONG))
    return pairs


def _races(pairs: Pairs) -> Mapping[object, None]:
    return dict.fromkeys(pair[:2] for pair in pairs if not pair[2])


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kernels", type=int, default=10_000, help="random kernels")
    parser.add_argument("--seed", type=int, default=1, help="first seed")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    seed = arguments.seed
    while counts["kernels"] < arguments.kernels:
        test = random_kernel(seed)
        seed += 1
        try:
            found, (sequential, whole) = by_oracle(test), by_axioms(test)
            compiled = by_oracle(test, CompiledOracle)
        except (LeftOutError, TooManyCandidatesError, LitmusError):
            counts["left out: too many runs or candidates, or a barrier of some threads"] += 1
            continue
        counts["kernels"] += 1
        counts["with a race"] += bool(_races(sequential))
        counts["with a race that only weak executions reach"] += bool(
            _races(whole).keys() - _races(sequential).keys()
        )
        if not found == compiled == sequential:
            counts["different"] += 1
            print(
                print_litmus(test), "oracle", found - sequential, "compiled", compiled - sequential,
                "axioms", sequential - found, sequential - compiled,
            )  # fmt: skip
    for what, count in counts.items():
        print(f"{count:6} {what}")
    sys.exit(bool(counts["different"]))


if __name__ == "__main__":
    main()
