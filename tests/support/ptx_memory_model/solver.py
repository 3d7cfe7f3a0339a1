"""Second transcription of PTX's memory model: a litmus test as a logic program.

Written from the ISA alone, without the axioms, relations and paths of the golden model: of that
it uses only the parsed instructions.  Memory is cells, orders are what a solver chooses, and a
value that depends on itself has no derivation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import clingo

from racetrap.golden_model.ptx_memory_model.litmus import LitmusTest, Variable
from racetrap.golden_model.ptx_memory_model.litmus import instructions as ptx
from racetrap.golden_model.ptx_memory_model.litmus.condition import observed_in
from tests.support.ptx_memory_model.arithmetic import Arithmetic

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Answer:
    """What the logic program says of a test.

    Parameters
    ----------
    states : frozenset
        Final values of what the condition names, in its order.
    races : frozenset
        Pairs of ``(thread, instruction)`` that race, and whether only in part of their bytes.
    """

    states: frozenset[tuple[int, ...]]
    races: frozenset[tuple[tuple[int, int], tuple[int, int], bool]]


@cache
def _rules() -> str:
    return "\n".join((_FOLDER / f"{name}.lp").read_text() for name in ("isa", "barriers"))


def solve(test: LitmusTest) -> Answer:
    """States and races of all consistent executions."""
    observed = observed_in(test.condition)
    translation = _Translation(test)
    shown = [translation.show(what, number) for number, what in enumerate(observed)]
    program = "\n".join([_rules(), *translation.lines, *shown])
    context = Arithmetic(translation.numbers)
    races = _brave(program, context)
    return Answer(_states(program, context, len(observed)), races)


def _control(program: str, context: Arithmetic, *options: str) -> clingo.Control:
    control = clingo.Control([*options, "--warn=none"])
    control.add("base", [], program)
    control.ground([("base", [])], context=context)
    return control


def _states(program: str, context: Arithmetic, count: int) -> frozenset[tuple[int, ...]]:
    shown = "#show.\n#show state/2.\n#show overflow/0."
    control = _control(program + shown, context, "0", "--project=show")
    states = set()
    with control.solve(yield_=True) as models:
        for model in models:
            values = {}
            for symbol in model.symbols(shown=True):
                if symbol.name == "overflow":
                    raise OverflowError("A value is beyond those that the solver knows")
                values[symbol.arguments[0].number] = int(symbol.arguments[1].string)
            states.add(tuple(values[number] for number in range(count)))
    return frozenset(states)


def _brave(
    program: str, context: Arithmetic
) -> frozenset[tuple[tuple[int, int], tuple[int, int], bool]]:
    """Races of any consistent execution."""
    shown = "#show.\n#show race/2.\n#show mixed_race/2."
    control = _control(program + shown, context, "0", "--enum-mode=brave")
    last: list[clingo.Symbol] = []
    with control.solve(yield_=True) as models:
        for model in models:
            last = model.symbols(shown=True)
    races = set()
    for symbol in last:
        one, other = (
            (operation.arguments[0].number, operation.arguments[1].number)
            for operation in symbol.arguments
        )
        races.add((min(one, other), max(one, other), symbol.name == "mixed_race"))
    return frozenset(races)


class _Translation:
    """Facts and rules of a test."""

    def __init__(self, test: LitmusTest) -> None:
        self._test = test
        self.lines: list[str] = []
        #: Numbers that occur in the text.
        self.numbers = {0, 1}
        self._variables = {variable.name: variable for variable in test.variables}
        self._cuts = {variable.name: {0, variable.type.size} for variable in test.variables}
        self._stored: dict[str, list[tuple[int, int, int]]] = {}
        self._look_at_accesses()
        self._say('overflow :- written_value(X, "overflow"), done(X).')
        self._say('overflow :- value(_, _, _, "overflow").')
        for variable in test.variables:
            self._variable(variable)
        for thread in range(len(test.threads)):
            self._thread(thread)

    # Memory

    def _look_at_accesses(self) -> None:
        """Where variables must be cut into cells: at the ends of accesses, and between bytes that
        differ between constants that may get there, as these can be read half."""
        stored: dict[str, list[tuple[int, int, int]]] = {}
        for variable in self._test.variables:
            found = [(0, variable.type.size, variable.value)]
            for thread in self._test.threads:
                for instruction in thread.instructions:
                    found += self._cut(instruction.operation, variable)
            stored[variable.name] = found
        for variable in self._test.variables:
            constants = [one for name in self._sources_of(variable) for one in stored[name]]
            differing = {
                offset + byte
                for _, _, number in constants
                for offset, size, other in constants
                for byte in range(size)
                if (number ^ other) >> 8 * (offset + byte) & 0xFF
            }
            cuts = self._cuts[variable.name]
            for low, high in pairwise(sorted(cuts)):
                inside = [byte for byte in sorted(differing) if low <= byte < high]
                cuts |= set(inside[1:]) if not variable.is_mbarrier else set()

    def _sources_of(self, variable: Variable) -> set[str]:
        """Variables whose values a variable may get through registers, itself among them."""
        sources, count = {variable.name}, 0
        while count < len(sources):
            count = len(sources)
            for thread in self._test.threads:
                operations = [instruction.operation for instruction in thread.instructions]
                copies = any(
                    name in sources and any(isinstance(value, str) for value in values)
                    for name, values in map(_written_to, operations)
                )
                if copies:
                    sources |= {_read_of(operation) for operation in operations} - {""}
        return sources

    def _cut(self, operation: object, variable: Variable) -> list[tuple[int, int, int]]:
        """Cut ``variable`` at an operation's accesses; where constants are stored in it, shifted
        to their place."""
        accesses = []
        if isinstance(operation, ptx.Load):
            size = operation.type.size
            accesses = [
                (operation.address, size, element * size, None)
                for element in range(len(operation.destinations))
            ]
        if isinstance(operation, ptx.Store):
            size = operation.type.size
            accesses = [
                (operation.address, size, element * size, source)
                for element, source in enumerate(operation.sources)
            ]
        if isinstance(operation, ptx.Atomic):
            accesses = [
                (operation.address, operation.type.size, 0, operand)
                for operand in operation.operands
            ]
        if isinstance(operation, ptx.AsyncCopy):
            accesses = [
                (address, operation.size, 0, None)
                for address in (operation.source, operation.destination)
            ]
        found = []
        for address, size, shift, constant in accesses:
            if address.variable == variable.name:
                start = address.offset + shift
                self._cuts[variable.name] |= {start, start + size}
                if isinstance(constant, int):
                    number = constant % (1 << 8 * size)
                    found.append((start, size, number << 8 * start))
        return found

    def _cells(self, name: str, start: int, size: int) -> list[tuple[int, int]]:
        """Offset and size of each cell of some bytes."""
        cuts = [cut for cut in sorted(self._cuts[name]) if start <= cut <= start + size]
        return [(low, high - low) for low, high in pairwise(cuts)]

    def _say(self, *lines: str) -> None:
        self.lines += lines

    def _variable(self, variable: Variable) -> None:
        node, name = f'i("{variable.name}")', variable.name
        self._say(f"initial({node}). done({node}). writes({node}). thread({node}, host).")
        self._say(f'location({node}, "{name}+0/{variable.type.size}").')
        for offset, size in self._cells(name, 0, variable.type.size):
            cell = f'c("{name}",{offset})'
            number = variable.value >> 8 * offset & (1 << 8 * size) - 1
            text = f'"{number}"'
            if variable.is_mbarrier:
                text = f'"{variable.value}/{variable.value}/0"'
            self.numbers.add(number)
            self._say(f"is_cell({cell}). cell({node}, {cell}). cell_value({node}, {cell}, {text}).")

    # Threads

    def _thread(self, number: int) -> None:
        place = self._test.threads[number].place
        keys = {
            "gpu": place[:1], "cluster": place[:2], "cta": place[:3], "warp": place[:4],
        }  # fmt: skip
        self._say(f"is_thread({number}).")
        for level, key in keys.items():
            self._say(f"{level}({number}, {_tuple(key)}).")
        registers = dict.fromkeys(self._registers(number), 0)
        registers |= {
            name: value for (owner, name), value in self._test.registers.items() if owner == number
        }
        for name, value in registers.items():
            self.numbers.add(value)
            self._say(f'value({number}, 0, "{name}", "{value}").')
        for position, instruction in enumerate(self._test.threads[number].instructions):
            _Instruction(self, number, position, instruction, registers)

    def _registers(self, number: int) -> set[str]:
        names = set()
        for instruction in self._test.threads[number].instructions:
            operation = instruction.operation
            names |= set(getattr(operation, "destinations", ()))
            names |= {getattr(operation, "destination", ""), getattr(operation, "state", "")}
        return {name for name in names if isinstance(name, str) and name not in ("", "_")}

    def show(self, what: object, number: int) -> str:
        """Rule for the final value of a register or a variable."""
        if isinstance(what, str):
            cells = self._cells(what, 0, self._variables[what].type.size)
            parts = ", ".join(f"(V{index},{size})" for index, (_, size) in enumerate(cells))
            body = ", ".join(
                f'last(c("{what}",{offset}), W{index}), '
                f'cell_value(W{index}, c("{what}",{offset}), V{index})'
                for index, (offset, _) in enumerate(cells)
            )
            return f"state({number}, @join({_tuple_text(parts)})) :- {body}."
        thread, register = what
        end = len(self._test.threads[thread].instructions)
        return f'state({number}, V) :- value({thread}, {end}, "{register}", V).'

    def cells_of(
        self, address: ptx.Address, size: int, shift: int = 0
    ) -> list[tuple[str, int, int]]:
        """Name, offset in the access and size of each cell of an access."""
        start = address.offset + shift
        return [
            (f'c("{address.variable}",{offset})', offset - start, width)
            for offset, width in self._cells(address.variable, start, size)
        ]

    def lanes_of(self, thread: int) -> tuple[int, ...]:
        """Place of a thread."""
        return tuple(self._test.threads[thread].place)

    @property
    def places(self) -> list[tuple[int, ...]]:
        """Places of all threads."""
        return [tuple(thread.place) for thread in self._test.threads]


def _written_to(operation: object) -> tuple[str, tuple[ptx.Operand, ...]]:
    """Variable that an operation writes, and the values that it may write; or nothing."""
    if isinstance(operation, ptx.Store):
        return operation.address.variable, operation.sources
    if isinstance(operation, ptx.Atomic):
        return operation.address.variable, operation.operands
    if isinstance(operation, ptx.AsyncCopy):
        return operation.destination.variable, (operation.source.variable,)
    return "", ()


def _read_of(operation: object) -> str:
    """Variable that an operation reads, or nothing."""
    if isinstance(operation, ptx.Load | ptx.Atomic):
        return operation.address.variable
    return operation.source.variable if isinstance(operation, ptx.AsyncCopy) else ""


def _tuple(numbers: tuple[int, ...]) -> str:
    return _tuple_text(", ".join(map(str, numbers)))


def _tuple_text(text: str) -> str:
    return f"({text},)"


class _Instruction:
    """Facts and rules of one instruction."""

    def __init__(
        self, translation: _Translation, thread: int, position: int,
        instruction: ptx.Instruction, registers: dict[str, int],
    ) -> None:  # fmt: skip
        self._all, self._thread, self._position = translation, thread, position
        self._executed = f"executed({thread}, {position})"
        self._operation = instruction.operation
        self._guard(instruction.guard)
        self._carry(registers)
        self._translate()

    def _say(self, *lines: str) -> None:
        self._all.lines.extend(lines)

    def _node(self, kind: str, element: int = 0) -> str:
        return f"n({self._thread}, {self._position}, {element}, {kind})"

    def _guard(self, guard: ptx.Guard | None) -> None:
        here = f"{self._thread}, {self._position}"
        if guard is None:
            self._say(f"executed({here}).")
            return
        taken, left = ("0", "1") if guard.negated else ("1", "0")
        value = f'value({here}, "{guard.register}", V)'
        self._say(f"executed({here}) :- {value}, @truth(V) = {taken}.")
        self._say(f"skipped({here}) :- {value}, @truth(V) = {left}.")

    def _written(self) -> list[str]:
        names = [*getattr(self._operation, "destinations", ())]
        names += [
            getattr(self._operation, "destination", ""),
            getattr(self._operation, "state", ""),
        ]
        return [name for name in names if name not in ("", "_")]

    def _carry(self, registers: dict[str, int]) -> None:
        """Registers that keep their value."""
        before = f"{self._thread}, {self._position}"
        after = f"{self._thread}, {self._position + 1}"
        for name in registers:
            rule = f'value({after}, "{name}", V) :- value({before}, "{name}", V)'
            skipped = f", skipped({before})" if name in self._written() else ""
            self._say(f"{rule}{skipped}.")

    def _result(self, register: str, value: str, body: str) -> None:
        """The instruction writes a register."""
        if register not in ("", "_"):
            after = f"{self._thread}, {self._position + 1}"
            self._say(f'value({after}, "{register}", {value}) :- {self._executed}, {body}.')

    def _operand(self, operand: ptx.Operand, variable: str) -> str:
        """Body that gives the value of an operand to a variable."""
        if isinstance(operand, int):
            self._all.numbers.add(operand)
            return f'{variable} = "{operand}"'
        return f'value({self._thread}, {self._position}, "{operand}", {variable})'

    def _describe(self, node: str, *kinds: str) -> None:
        """Facts of an operation that is done if the instruction is executed."""
        self._say(f"done({node}) :- {self._executed}.", *(f"{kind}({node})." for kind in kinds))
        self._say(f"thread({node}, {self._thread}). position({node}, {self._position}).")
        self._say(f"instruction({node}, o({self._thread}, {self._position})).")

    def _place(
        self, node: str, address: ptx.Address, size: int, shift: int = 0
    ) -> list[tuple[str, int, int]]:
        """Where an operation accesses memory; its cells."""
        place = f"{address.variable}+{address.offset + shift}/{size}"
        cells = self._all.cells_of(address, size, shift)
        self._say(f'location({node}, "{place}").', *(f"cell({node}, {c})." for c, _, _ in cells))
        return cells

    def _reads(self, node: str, cells: list[tuple[str, int, int]]) -> None:
        """The operation returns what is in its cells."""
        body = ", ".join(
            f"from({node}, {cell}, W{index}), cell_value(W{index}, {cell}, V{index})"
            for index, (cell, _, _) in enumerate(cells)
        )
        parts = ", ".join(f"(V{index},{width})" for index, (_, _, width) in enumerate(cells))
        self._say(f"reads({node}).")
        self._say(f"read_value({node}, @join({_tuple_text(parts)})) :- {body}.")
        self._say(f":- done({node}), not read_value({node}, _).")

    def _writes(self, node: str, cells: list[tuple[str, int, int]], when: str = "") -> None:
        """The operation puts ``written_value`` into its cells."""
        self._say(f"writes({node}){f' :- {when}' if when else ''}.")
        for cell, offset, width in cells:
            value = f"@part(V, {offset}, {width})"
            self._say(f"cell_value({node}, {cell}, {value}) :- written_value({node}, V).")

    def _access(self, node: str, access: ptx.Access) -> None:
        """Strength, scope and patterns of a memory operation."""
        if access.scope is not None:
            self._say(f"strong({node}). scope({node}, {access.scope.name.lower()}).")
        self._order(node, access.order.value)

    def _order(self, node: str, order: str, condition: str = "") -> None:
        tail = f" :- {condition}" if condition else ""
        if order in ("release", "acq_rel", "sc"):
            self._say(f"releases({node}){tail}.")
        if order in ("acquire", "acq_rel", "sc"):
            self._say(f"acquires({node}){tail}.")

    def _translate(self) -> None:
        operation = self._operation
        name = type(operation).__name__
        forms = {
            "Load": self._load, "Store": self._store, "Atomic": self._atomic,
            "Fence": self._fence, "CtaBarrier": self._cta_barrier,
            "WarpBarrier": self._warp_barrier, "ClusterBarrier": self._cluster_barrier,
            "AsyncCopy": self._copy, "CommitGroup": self._commit_group,
            "WaitGroup": self._wait_group,
            "MbarrierArrive": self._mbarrier_arrive, "MbarrierWait": self._mbarrier_wait,
            "CopyArrive": self._copy_arrive, "Arithmetic": self._arithmetic,
            "Comparison": self._arithmetic,
        }  # fmt: skip
        forms[name](operation)

    def _commit_group(self, _: ptx.CommitGroup) -> None:
        self._say(f"commit({self._thread}, {self._position}).")

    def _load(self, load: ptx.Load) -> None:
        size = load.type.size
        for element, register in enumerate(load.destinations):
            node = self._node("m", element)
            self._describe(node)
            self._reads(node, self._place(node, load.address, size, element * size))
            self._access(node, load.access)
            self._result(register, "V", f"read_value({node}, V)")

    def _store(self, store: ptx.Store) -> None:
        size = store.type.size
        for element, source in enumerate(store.sources):
            node = self._node("m", element)
            self._describe(node)
            self._writes(node, self._place(node, store.address, size, element * size))
            self._access(node, store.access)
            value = f'@apply("mov", {store.type.bits}, 0, V, V)'
            self._say(f"written_value({node}, {value}) :- {self._operand(source, 'V')}.")

    def _atomic(self, atomic: ptx.Atomic) -> None:
        node, bits, signed = self._node("m"), atomic.type.bits, int(atomic.type.is_signed)
        self._describe(node, "atomic", *["reduction"] * atomic.is_reduction)
        self._access(node, atomic.access)
        cells = self._place(node, atomic.address, atomic.type.size)
        self._reads(node, cells)
        old, when = f"read_value({node}, O)", ""
        if atomic.operation == "cas":
            compare = self._operand(atomic.operands[0], "C")
            when = f'{self._executed}, {old}, {compare}, @apply("eq", {bits}, 0, O, C) = "1"'
        self._writes(node, cells, when)
        new = self._operand(atomic.operands[-1], "V")
        if atomic.operation in ("exch", "cas"):
            value, body = f'@apply("mov", {bits}, 0, V, V)', new
        else:
            value = f'@apply("{atomic.operation}", {bits}, {signed}, O, V)'
            body = f"{old}, {new}"
        self._say(f"written_value({node}, {value}) :- {body}.")
        if not atomic.is_reduction:
            self._result(atomic.destination, "O", old)

    def _fence(self, fence: ptx.Fence) -> None:
        node = self._node("o")
        kind = "sc_fence" if fence.order.value == "sc" else "fence"
        self._describe(node, kind, "strong")
        self._say(f"scope({node}, {fence.scope.name.lower()}).")
        self._order(node, fence.order.value)

    def _barrier(self, name: str, arrives: bool, waits: bool, wanted: str, hands_on: bool) -> str:
        node = self._node("o")
        self._describe(node, "at_barrier")
        if arrives:
            self._say(f"arrives({node}, {name}). wanted({node}, {wanted}).")
        if waits:
            self._say(f"waits({node}, {name}).")
        if hands_on:
            self._say(f"hands_on({node}).")
        return node

    def _members(self, name: str, depth: int, mask: int = -1) -> None:
        here = self._all.lanes_of(self._thread)
        for thread, place in enumerate(self._all.places):
            if place[:depth] == here[:depth] and mask >> place[4] & 1:
                self._say(f"takes_part({thread}, {name}).")

    def _cta_barrier(self, barrier: ptx.CtaBarrier) -> None:
        place = self._all.lanes_of(self._thread)
        name = f"cta({_tuple(place[:3])}, {barrier.barrier})"
        wanted = "all" if barrier.count is None else str(barrier.count)
        node = self._barrier(name, True, barrier.action != "arrive", wanted, True)
        self._members(name, 3)
        if barrier.predicate is None:
            return
        holds = "0" if barrier.predicate.negated else "1"
        operand = self._operand(barrier.predicate.register, "V")
        self._say(f"votes({node}).", f"vote({node}) :- {operand}, @truth(V) = {holds}.")
        self._say(
            f"counted({node}, N) :- joins({node}, {name}, K), "
            f"N = #count {{ X : in_phase(X, {name}, K), votes(X), vote(X) }}."
        )
        self._say(
            f"voters({node}, N) :- joins({node}, {name}, K), "
            f"N = #count {{ X : in_phase(X, {name}, K), votes(X) }}."
        )
        operation = barrier.action.split(".")[1]
        self._result(
            barrier.destination, f'@reduce("{operation}", N, M)',
            f"counted({node}, N), voters({node}, M)",
        )  # fmt: skip

    def _warp_barrier(self, barrier: ptx.WarpBarrier) -> None:
        place = self._all.lanes_of(self._thread)
        name = f"warp({_tuple(place[:4])}, {barrier.mask})"
        self._barrier(name, True, True, "all", True)
        self._members(name, 4, barrier.mask)

    def _cluster_barrier(self, barrier: ptx.ClusterBarrier) -> None:
        place = self._all.lanes_of(self._thread)
        name = f"cluster({_tuple(place[:2])})"
        arrives = barrier.action == "arrive"
        self._barrier(name, arrives, not arrives, "all", barrier.order.value == "release")
        self._members(name, 2)

    def _copy(self, copy: ptx.AsyncCopy) -> None:
        load, store = self._node("r"), self._node("w")
        for node in (load, store):
            self._describe(node, "async")
        self._reads(load, self._place(load, copy.source, copy.size))
        self._writes(store, self._place(store, copy.destination, copy.size))
        self._say(f"completes({load}, {store}).", f"copied({store}).")
        self._say(f"written_value({store}, V) :- read_value({load}, V).")

    def _wait_group(self, wait: ptx.WaitGroup) -> None:
        node = self._node("o")
        self._describe(node)
        pending = -1 if wait.pending is None else wait.pending
        # A copy is complete if more than ``pending`` groups have been committed behind it.
        self._say(
            f"completes(X, {node}) :- copied(X), done(X), thread(X, {self._thread}), "
            f"position(X, P), P < {self._position}, N = #count {{ Q : commit({self._thread}, Q), "
            f"executed({self._thread}, Q), Q > P, Q < {self._position} }}, N > {pending}."
        )

    def _mbarrier(self, scope: str, address: ptx.Address) -> tuple[str, list[tuple[str, int, int]]]:
        """A strong read of an mbarrier object."""
        node = self._node("m")
        self._describe(node, "strong")
        self._say(f"scope({node}, {scope}).")
        cells = self._place(node, address, 8)
        self._reads(node, cells)
        return node, cells

    def _arrives(self, order: str, scope: str, address: ptx.Address) -> str:
        """An arrival, which is an atomic."""
        node, cells = self._mbarrier(scope, address)
        self._say(f"atomic({node}).")
        self._order(node, order)
        self._writes(node, cells)
        self._say(f"written_value({node}, @arrive(V)) :- read_value({node}, V).")
        return node

    def _mbarrier_arrive(self, arrive: ptx.MbarrierArrive) -> None:
        node = self._arrives(arrive.order.value, arrive.scope.name.lower(), arrive.address)
        self._result(arrive.state, "V", f"read_value({node}, V)")

    def _mbarrier_wait(self, wait: ptx.MbarrierWait) -> None:
        node, _ = self._mbarrier(wait.scope.name.lower(), wait.address)
        test = "parity" if wait.by_parity else "state"
        value = f"read_value({node}, V), {self._operand(wait.phase, 'S')}"
        self._result(wait.destination, f'@passed("{test}", V, S)', value)
        self._order(node, wait.order.value, f'{value}, @passed("{test}", V, S) = "1"')

    def _copy_arrive(self, arrive: ptx.CopyArrive) -> None:
        node = self._arrives("release", "cta", arrive.address)
        self._say(f"async({node}). arrival_of_copies({node}).")
        self._say(
            f"completes(X, {node}) :- copied(X), thread(X, {self._thread}), "
            f"position(X, P), P < {self._position}."
        )

    def _arithmetic(self, operation: ptx.Arithmetic | ptx.Comparison) -> None:
        bits, signed = operation.type.bits, int(operation.type.is_signed)
        first, last = operation.sources[0], operation.sources[-1]
        if operation.name in ("xor", "sub") and first == last:
            self._result(operation.destination, '"0"', "#true")
            return
        if operation.name == "and" and 0 in operation.sources:
            self._result(operation.destination, '"0"', "#true")
            return
        body = f"{self._operand(first, 'A')}, {self._operand(last, 'B')}"
        value = f'@apply("{operation.name}", {bits}, {signed}, A, B)'
        self._result(operation.destination, value, body)
