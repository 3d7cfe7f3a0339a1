"""Views: an operational form of PTX's memory model.

Memory keeps the messages of each location in coherence order, oldest first.  A thread's view holds,
for each location, the newest message that precedes the thread's next operation in causality order.
A load may take this message or any later one; a store goes anywhere after it.  Releases attach
views to messages, and acquires join those of the messages that were read, if the scopes of the
outermost operations include each other; ``.sc`` fences join the views of earlier ones, and barriers
those of all arrivals.  A load may also be settled late, after later operations of its thread.

No outcome occurs that the axioms forbid.  The axioms allow more: their coherence order leaves
racing writes unordered (here it is total), and a store may take effect before an earlier one whose
value is still pending.

Ref: PTX ISA 9.0, Sections 8.8 (Release and Acquire Patterns) to 8.10 (Axioms); Kang et al., "A
Promising Semantics for Relaxed-Memory Concurrency" (POPL'17), for views and messages.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from racetrap.golden_model.ptx_memory_model.events import INITIAL_THREAD, Location, Order
from racetrap.golden_model.ptx_memory_model.operational.choices import (
    SC_FENCES,
    Choices,
    Kind,
    Story,
)
from racetrap.golden_model.ptx_memory_model.operational.execution import Moment
from racetrap.golden_model.ptx_memory_model.operational.memory import (
    ByteMemory,
    Memory,
    Pending,
    Strength,
    mutual,
    settled,
)
from racetrap.golden_model.ptx_memory_model.operational.messages import Cell, Late, Message, View
from racetrap.golden_model.ptx_memory_model.scopes import Place, Scope


class Views(Memory):
    """Memory of messages and views.

    Parameters
    ----------
    memory, places, choices
        As of `Memory`.
    history : int, optional
        Maximum messages kept of a location; older ones can no longer be read.
    newest_atomics : bool
        Whether an atomic that fails, and so writes nothing, takes the newest message, too.
    """

    def __init__(
        self, memory: ByteMemory, places: Sequence[Place], choices: Choices,
        history: int | None = None, newest_atomics: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(memory, places, choices)
        self.history, self._newest_atomics = history, newest_atomics
        self._cells: dict[int, Cell] = {}
        #: Number of cells so far, including forgotten ones.
        self._cell_count = 0
        count = len(places)
        self._views = [View({}, {}, set()) for _ in range(count)]
        #: View at the latest release fence of each scope, by thread.
        self._fences: list[dict[Scope, View]] = [{} for _ in range(count)]
        #: View at the latest release operation on a location, by thread and scope.
        self._released: list[dict[Cell, dict[Scope, View]]] = [{} for _ in range(count)]
        #: Views that a later acquire of the thread may join: location read, thread and scope of the
        #: release.
        self._acquirable: list[dict[tuple[Cell, int, Scope], View]] = [{} for _ in range(count)]
        #: Number of the latest copy of each other thread's view that a thread has joined.
        self._acquired: list[dict[int, int]] = [{} for _ in range(count)]
        self._sc_fences: dict[tuple[int, Scope], View] = {}
        #: Unsettled loads of each thread.
        self._late: list[list[Late]] = [[] for _ in range(count)]

    # Locations

    def _cell(self, location: Location) -> Cell | None:
        """Messages of a location that has been written; another size ends their history."""
        cell = self._cells.get(location.address)
        if cell is not None and cell.location.size == location.size:
            return cell
        for other in self._overlapping(location):
            self._forget(other)
        return None

    def _overlapping(self, location: Location) -> list[Cell]:
        starts = range(location.address - 15, location.address + location.size)
        cells = [self._cells[start] for start in starts if start in self._cells]
        return [cell for cell in cells if cell.location.overlaps(location)]

    def _forget(self, cell: Cell) -> None:
        for late in [late for pending in self._late for late in pending if late.cell is cell]:
            late.settle()
        for message in cell.messages:
            settled(message.value)
        del self._cells[cell.location.address]

    def _written_cell(self, location: Location) -> Cell:
        cell = self._cell(location)
        if cell is None:
            self._cell_count += 1
            cell = Cell(location, self.memory.read(location), self._cell_count)
            self._cells[location.address] = cell
        return cell

    def _morally_strong(self, message: Message, thread: int, strength: Strength) -> bool:
        if message.thread == thread:
            return True
        if message.thread == INITIAL_THREAD:
            return False
        there, here = self.places[message.thread], self.places[thread]
        return mutual(message.strength.scope, there, strength.scope, here)

    def _lowest(self, thread: int, cell: Cell) -> float:
        """Rank of the oldest message that the thread may take."""
        view = self._views[thread]
        if view.late:
            view.fold()
        return view.rank(cell)

    def _unsettled(self, thread: int, cell: Cell) -> list[Late]:
        """Unsettled loads of a location that precede the thread's operation."""
        return [
            late for late in self._views[thread].late if late.message is None and late.cell is cell
        ]

    @property
    def now(self) -> Moment:
        return self._cell_count, float("inf")

    # Loads

    def load(
        self, thread: int, location: Location, strength: Strength, may_wait: bool = False
    ) -> int | Pending:
        self.choices.touched(thread, location.address, location.size, False)
        cell = self._cell(location)
        if cell is None:
            if not may_wait:
                self.read_newest(thread, location)
                return self.memory.read(location)
            cell = self._written_cell(location)
        lowest = self._lowest(thread, cell)
        if may_wait and not self._unsettled(thread, cell):
            late = Late(thread, cell, strength, lowest, self.origin, self._settle)
            if self._possible(late) and self.choices.take(
                Kind.LATE, 2, self._told("is settled late"), (thread, location.address)
            ):
                if strength.order.acquires:
                    self._acquire(thread, strength.scope, cell)
                if self.execution is not None:
                    late.operation = self.execution.add(thread, location)
                self._views[thread].late.add(late)
                self._late[thread].append(late)
                return late
        message = cell.messages[-1]
        if message.rank > lowest:
            options = [one for one in reversed(cell.messages) if one.rank >= lowest]
            told = self._stale(options, self.origin)
            message = options[self.choices.take(Kind.MESSAGE, len(options), told)]
        if self.execution is not None:
            self.execution.add(thread, location).reads = message.moment
        self._observe(thread, message, strength)
        return message.number

    def _observe(
        self, thread: int, message: Message, strength: Strength, returns: bool = True
    ) -> None:
        """Update the view of a thread that has read a message."""
        for late in self._unsettled(thread, message.cell):
            late.highest = min(late.highest, message.rank)
        if self._morally_strong(message, thread, strength):
            self._views[thread].include(message)
            if strength.scope is not None and returns:
                self._may_acquire(thread, message)
        if strength.order.acquires:
            self._acquire(thread, strength.scope, message.cell)

    def _may_acquire(self, thread: int, message: Message) -> None:
        acquirable = self._acquirable[thread]
        acquired = self._acquired[thread]
        for (releaser, scope), view in message.releases.items():
            if releaser != thread and view.number > acquired.get(releaser, 0):
                key = (message.cell, releaser, scope)
                known = acquirable.get(key)
                if known is None or known.number < view.number:
                    acquirable[key] = view

    def _acquire(self, thread: int, scope: Scope | None, cell: Cell | None = None) -> None:
        """An acquire operation on a location, or a fence: join what the thread has observed."""
        view = self._views[thread]
        for late in self._late[thread]:
            if (cell is None or late.cell is cell) and scope is not None:
                late.passed.add(scope)
                if not self._possible(late):
                    late.passed.discard(scope)
                    late.settle()
        acquirable, acquired = self._acquirable[thread], self._acquired[thread]
        for key, released_view in list(acquirable.items()):
            read, releaser, released = key
            there, here = self.places[releaser], self.places[thread]
            if (cell is None or read is cell) and mutual(released, there, scope, here):
                del acquirable[key]
                if released_view.number > acquired.get(releaser, 0):
                    acquired[releaser] = released_view.number
                    view.join(released_view)

    # Late loads

    def _possible(self, late: Late) -> list[Message]:
        """Messages that an unsettled load may take, the newest first."""
        return [
            message
            for message in reversed(late.cell.messages)
            if message.rank >= late.lowest
            and message not in late.excluded
            and not message.depends_on(late)
            and self._fits(late, message)
        ]

    def _fits(self, late: Late, message: Message) -> bool:
        if not self._morally_strong(message, late.thread, late.strength):
            return True
        if message.rank > late.highest:
            return False
        here = self.places[late.thread]
        return late.strength.scope is None or not any(
            mutual(released, self.places[releaser], passed, here)
            for releaser, released in message.releases
            for passed in late.passed
            if releaser != late.thread
        )

    def _settle(self, late: Late) -> None:
        """Settle a load."""
        location = late.cell.location
        self.choices.touched(late.thread, location.address, location.size, False)
        options = self._possible(late)
        told = self._stale(options, late.origin)
        late.message = options[self.choices.take(Kind.MESSAGE, len(options), told)]
        if late.operation is not None:
            late.operation.reads = late.message.moment
        self._late[late.thread].remove(late)
        late.observes = self._morally_strong(late.message, late.thread, late.strength)
        if late.observes and late.strength.scope is not None:
            self._may_acquire(late.thread, late.message)
        number = late.message.number
        for message in late.written:
            message.value = number
            if message is message.cell.messages[-1]:
                self.memory.write(message.cell.location, number)

    # Stores and atomics

    def store(
        self, thread: int, location: Location, value: int | Pending, strength: Strength
    ) -> None:
        self.choices.touched(thread, location.address, location.size, True)
        if isinstance(value, Pending):
            assert isinstance(value, Late)
            value = value.settle() if value.is_settled else value
        cell = self._written_cell(location)
        lowest, newest = self._lowest(thread, cell), len(cell.messages) - 1
        place = newest
        if cell.messages[newest].rank > lowest:
            places = list(self._places(thread, cell, lowest, strength))
            place = places[self.choices.take(Kind.PLACE, len(places), self._before(cell, places))]
        message = self._write(thread, cell, place, value, strength)
        if self.execution is not None:
            self.execution.add(thread, location).writes = message.moment

    def _places(self, thread: int, cell: Cell, lowest: float, strength: Strength) -> Iterator[int]:
        """Messages after which a write may go, the newest first: it must not separate a morally
        strong atomic from the message that it read."""
        read = float("inf")
        for number in range(len(cell.messages) - 1, -1, -1):
            message = cell.messages[number]
            if message.rank < lowest:
                return
            if message.rank < read:
                yield number
            source = message.source
            if source is not None and self._morally_strong(message, thread, strength):
                read = min(read, source.rank)

    def _write(
        self, thread: int, cell: Cell, number: int, value: int | Late, strength: Strength,
        source: Message | None = None,
    ) -> Message:  # fmt: skip
        """Insert a message after a numbered one."""
        messages, view = cell.messages, self._views[thread]
        before = messages[number].rank
        newest = number + 1 == len(messages)
        rank = before + 1 if newest else (before + messages[number + 1].rank) / 2
        view.times[thread] = time = view.times.get(thread, 0) + 1
        message = Message(cell, rank, value, thread, time, strength, source, self.origin)
        for late in self._unsettled(thread, cell):
            late.excluded.add(message)
            late.highest = min(late.highest, before)
        messages.insert(number + 1, message)
        if self.history is not None and len(messages) > self.history:
            del messages[0]
        if source is not None and self._morally_strong(source, thread, strength):
            message.releases.update(source.releases)
        self._release(thread, message)
        if isinstance(value, Late):
            value.written.append(message)
        elif newest:
            self.memory.write(cell.location, value)
        return message

    def _release(self, thread: int, message: Message) -> None:
        """Attach the thread's released views to a message that it writes."""
        strength, cell = message.strength, message.cell
        if strength.scope is None:
            return
        if strength.order.releases:
            released = self._released[thread].setdefault(cell, {})
            released[strength.scope] = self._views[thread].copy()
        for views in (self._fences[thread], self._released[thread].get(cell, {})):
            for scope, view in views.items():
                known = message.releases.get((thread, scope))
                if known is None or known.number < view.number:
                    message.releases[thread, scope] = view

    def atomic(
        self, thread: int, location: Location, update: Callable[[int], int | None],
        strength: Strength, returns: bool = True,
    ) -> int:  # fmt: skip
        self.choices.touched(thread, location.address, location.size, True)
        cell = self._written_cell(location)
        lowest = self._lowest(thread, cell)
        options = list(self._atomic_options(thread, cell, lowest, update, strength))
        told = self._stale([message for message, _ in options], self.origin)
        chosen = self.choices.take(Kind.MESSAGE, len(options), told)
        message, number = options[chosen]
        self._observe(thread, message, strength, returns)
        new = update(message.number)
        written = None if new is None else self._write(thread, cell, number, new, strength, message)
        if self.execution is not None:
            operation = self.execution.add(thread, location)
            operation.reads = message.moment
            operation.writes = None if written is None else written.moment
        return message.number

    def _atomic_options(
        self, thread: int, cell: Cell, lowest: float, update: Callable[[int], int | None],
        strength: Strength,
    ) -> Iterator[tuple[Message, int]]:  # fmt: skip
        """Messages that an atomic may read and after which it may write, with no morally strong one
        in between."""
        last = len(cell.messages) - 1
        places = list(self._places(thread, cell, lowest, strength))
        end = last + 1
        for number in range(last, -1, -1):
            message = cell.messages[number]
            if message.rank < lowest:
                return
            if update(message.number) is not None:
                yield from ((message, place) for place in places if number <= place < end)
            elif number == last or not self._newest_atomics:
                yield message, number
            if self._morally_strong(message, thread, strength):
                end = number

    # Fences and barriers

    def fence(self, thread: int, order: Order, scope: Scope) -> None:
        view = self._views[thread]
        if order.acquires:
            self._acquire(thread, scope)
        if order is Order.SC:
            self.choices.touched(thread, SC_FENCES, 1, True)
            for (other, other_scope), other_view in self._sc_fences.items():
                if mutual(other_scope, self.places[other], scope, self.places[thread]):
                    view.join(other_view)
            self._sc_fences[thread, scope] = view.copy()
        if order.releases:
            self._fences[thread][scope] = view.copy()

    def arrive(self, thread: int) -> object:
        return self._views[thread].copy()

    def arrive_relaxed(self, thread: int) -> object:
        views = [v for scope, v in self._fences[thread].items() if scope >= Scope.CLUSTER]
        return self.merged(views)[0] if views else None

    def merged(self, given: Sequence[object]) -> Sequence[object]:
        whole = View({}, {}, set())
        for view in given:
            assert isinstance(view, View)
            whole.join(view)
        return [whole]

    def leave(self, thread: int, given: Sequence[object]) -> None:
        for view in given:
            assert isinstance(view, View)
            self._views[thread].join(view)

    def drain(self) -> None:
        for late in [late for pending in self._late for late in pending]:
            late.settle()

    # Stories

    def _stale(self, options: Sequence[Message], origin: object) -> Callable[[int], Story]:
        """Story of a load that takes an older message."""

        def story(option: int) -> Story:
            taken, newest = options[option], options[0]
            behind = min((m for m in options if m.rank > taken.rank), key=_rank, default=newest)
            value = "a late value" if isinstance(taken.value, Late) else taken.value
            return Story(origin, f"took {value}, from before", behind.origin or "it")

        return story

    def _before(self, cell: Cell, places: Sequence[int]) -> Callable[[int], Story]:
        """Story of a store that goes before others."""

        def story(option: int) -> Story:
            behind = cell.messages[places[option] + 1]
            return Story(self.origin, "took effect before", behind.origin or "it")

        return story

    # The state

    def key(self) -> Hashable:
        cells = sorted(self._cells.values(), key=lambda cell: cell.location)
        names: dict[object, Hashable] = {
            message: (cell.location.address, number)
            for cell in cells
            for number, message in enumerate(cell.messages)
        }
        unsettled = [late for pending in self._late for late in pending]
        names.update((late, ("late", number)) for number, late in enumerate(unsettled))

        def view_key(view: View) -> Hashable:
            view.fold()
            late = [names[one] for one in view.late]
            newest = {cell: view.rank(cell) for cell in cells}
            ranks = tuple(sum(m.rank < newest[cell] for m in cell.messages) for cell in cells)
            return ranks, frozenset(late)

        def views_key(views: Iterable[tuple[Hashable, View]]) -> Hashable:
            return frozenset((key, view_key(view)) for key, view in views)

        messages = tuple(
            (names.get(m.value, m.value), m.thread, m.strength, m.source and names[m.source],
             views_key(m.releases.items()))
            for cell in cells for m in cell.messages
        )  # fmt: skip
        threads = tuple(
            (
                view_key(self._views[thread]),
                views_key(self._fences[thread].items()),
                views_key(
                    ((cell.location, scope), view)
                    for cell, views in self._released[thread].items()
                    for scope, view in views.items()
                ),
                views_key(
                    ((cell.location, releaser, scope), view)
                    for (cell, releaser, scope), view in self._acquirable[thread].items()
                ),
            )
            for thread in range(len(self.places))
        )
        late = tuple(
            (
                one.thread, one.cell.location, one.lowest, one.highest,
                frozenset(names[m] for m in one.excluded), frozenset(one.passed),
            )
            for one in unsettled
        )  # fmt: skip
        return messages, threads, views_key(self._sc_fences.items()), late


def _rank(message: Message) -> float:
    return message.rank
