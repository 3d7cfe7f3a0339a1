"""Advice: synchronisation that a program lacks, and what is redundant or wider than needed.

A set of changes is refuted by one failing run, and confirmed by none: advice means that no run of a
search has refuted it. Fences are put before accesses, line by line. Synchronisation called
redundant must have run; without it, no run examined may have a race by the exact oracle, or leave
strong accesses unordered that were ordered.

Ref: Bugaroo Section III-D (root cause analysis), which puts them behind accesses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from racetrap.golden_model.ptx_memory_model import Order, Scope
from racetrap.sim.gpu.stress.ordering import Unordered, executed_pcs, unordered_with
from racetrap.sim.gpu.stress.refutation import RefutingSearch
from racetrap.sim.gpu.stress.subject import Changes, Subject
from racetrap.sim.gpu.stress.synchronisation import Action, Sync, Synchronisation, name_of

_Chosen = dict[Action, Sync | None]
#: Parts of a search, the shortest first: one divided by each.
_DIVISORS = (8, 4, 2, 1)
#: Fences tried, the narrowest first.
_FENCES: tuple[Sync, ...] = (
    (Order.ACQ_REL, Scope.CTA), (Order.ACQ_REL, Scope.GPU), (Order.SC, Scope.GPU),
)  # fmt: skip
#: A relaxed access of the device.
_PLAIN: Sync = Order.RELAXED, Scope.GPU
#: Verbs for each action: if it narrows, and if it widens.
_VERBS = {
    "insert": ("insert", "insert"), "insert_after": ("insert_after", "insert_after"),
    "fence": ("narrow", "widen"), "access": ("weaken", "order"),
}  # fmt: skip


class AdvisedChange(NamedTuple):
    """Advice on one fence or access.

    Parameters
    ----------
    action : str
        Of a fence ``insert``, ``insert_after``, ``widen``, ``remove`` or ``narrow``; of a strong
        access ``order`` or ``weaken``.
    place : str
        Line before or after which to insert, or of the fence or access.
    what : str
        The PTX to put there, or to remove.
    """

    action: str
    place: str
    what: str


class Unexecuted(NamedTuple):
    """A fence or an ordered access without advice.

    Parameters
    ----------
    place : str
        Its line.
    what : str
        The PTX at this line.
    """

    place: str
    what: str


@dataclass(frozen=True)
class Advice:
    """Advice on a program.

    Parameters
    ----------
    changes : list of AdvisedChange
        What to change.
    instead : list of AdvisedChange
        Changes to make instead: orders of existing accesses; empty if they do not cure it, or
        nothing is missing.
    cured : bool
        Whether no run with the changes has failed; if not, no fences help.
    runs : int
        Runs of the search that did not refute it.
    memories : tuple of str
        Memory models of these runs.
    unexecuted : list of Unexecuted
        Fences and ordered accesses that did not run, or not everywhere.
    races : bool
        Whether accesses of the unchanged program race, so that nothing is called redundant.
    """

    changes: list[AdvisedChange]
    instead: list[AdvisedChange]
    cured: bool
    runs: int
    memories: tuple[str, ...]
    unexecuted: list[Unexecuted]
    races: bool = False


class Advisor:
    """Makes advice for a subject.

    Parameters
    ----------
    subject : Subject
        The subject.
    memory, runs, bounded, seed
        As of `RefutingSearch`.
    """

    def __init__(self, subject: Subject, memory: str, runs: int, bounded: int, seed: int) -> None:
        self._subject = subject
        self._program = Synchronisation(subject.functions, executed_pcs(subject.traces))
        self._search = RefutingSearch(subject, self._program, memory, runs, bounded, seed)
        self._divisor = 1

    def _fails(self, chosen: _Chosen) -> bool:
        """Whether a run refutes a choice of changes, by a search as long as they are now."""
        return self._search.refutes(chosen, self._divisor)

    def _lasting(self, find: Callable[[], _Chosen | None]) -> _Chosen | None:
        """Result of short searches if a whole one does not refute it; of longer ones if it does. A
        refutation is final, and most come soon."""
        for self._divisor in _DIVISORS:
            found = find()
            if found is None or not self._search.refutes(found):
                return found
        raise AssertionError("The last search is a whole one")

    def advise(self) -> Advice:
        """Advice on the program as it stands."""
        search = self._search.total, self._search.memories
        unexecuted = [Unexecuted(*each) for each in self._program.unexecuted.items()]
        if not self._search.refutes({}):
            if any(each.races for each in self._unordered):
                return Advice([], [], True, *search, unexecuted, True)
            excess = self._advised(self._lasting(self._excess) or {}, 0)
            return Advice(excess, [], True, *search, unexecuted)
        missing = self._lasting(self._missing)
        if missing is None:
            return Advice([], [], False, *search, unexecuted)
        inserts = any(what.name.startswith("insert") for what in missing)
        ordered = self._lasting(self._ordered) if inserts else None
        instead = self._advised(ordered or {}, 1)
        return Advice(self._advised(missing, 1), instead, True, *search, unexecuted)

    def _advised(self, chosen: _Chosen, wider: int) -> list[AdvisedChange]:
        return [
            AdvisedChange(
                "remove" if sync is None else _VERBS[what.name][wider], what.place,
                self._name(what, sync),
            )
            for what, sync in chosen.items()
        ]  # fmt: skip

    def _name(self, what: Action, sync: Sync | None) -> str:
        """The PTX to put at a line, or to remove from it."""
        if what.name == "access":
            assert sync is not None
            opcodes = {access.opcode for access in self._program.accesses[what.place].values()}
            return name_of("/".join(sorted(opcodes)), sync)
        return name_of("fence", sync or next(iter(self._program.fences[what.place].values())))

    # What is missing

    def _missing(self) -> _Chosen | None:
        """The fewest and narrowest changes that are not refuted: fences and orders that are there
        made wider, if that will do, or fences before lines."""
        program = self._program
        ordering = self._ordering()
        for fence in _FENCES[1:]:
            existing: _Chosen = {Action("fence", place): fence for place in program.fences}
            for place in self._narrow():
                existing[Action("access", place)] = fence if place in ordering else _PLAIN
            inserted: _Chosen = dict.fromkeys(program.slots(), fence)
            for chosen in (existing, inserted):
                if chosen and not self._fails(chosen):
                    fewest = self._merged(self._fewest(chosen))
                    return self._narrowest(self._on_fewer_paths(self._usual(fewest)))
        return None

    def _merged(self, chosen: _Chosen) -> _Chosen:
        """The same with one fence instead of two, if that does."""
        slots = self._program.slots()
        for pair in combinations([what for what in chosen if what in slots], 2):
            rest = {what: sync for what, sync in chosen.items() if what not in pair}
            for slot in reversed(slots):
                merged: _Chosen = {**rest, slot: chosen[pair[0]]}
                if slot not in rest and not self._fails(merged):
                    return self._merged(merged)
        return chosen

    def _usual(self, chosen: _Chosen) -> _Chosen:
        """The same with fences where they are of more use, if that does."""
        slots = self._program.slots()
        return self._moved(chosen, {
            what: slots[:slots.index(what):-1] for what in chosen if what in slots
        })  # fmt: skip

    def _on_fewer_paths(self, chosen: _Chosen) -> _Chosen:
        """The same with a fence before one of several next lines instead of one after a
        line, if that does."""
        return self._moved(chosen, {
            what: [Action("insert", place) for place in sorted(self._program.following(what.place))]
            for what in chosen if what.name == "insert_after"
        })  # fmt: skip

    def _moved(self, chosen: _Chosen, places: Mapping[Action, Iterable[Action]]) -> _Chosen:
        """The same with each change at the first of its places at which it does, if any."""
        for what, candidates in places.items():
            rest = {other: sync for other, sync in chosen.items() if other != what}
            for place in candidates:
                if place not in rest and not self._fails(moved := {place: chosen[what], **rest}):
                    chosen = moved
                    break
        return chosen

    def _ordering(self) -> list[str]:
        """Lines with an access that acquires or releases."""
        return [
            place for place, accesses in self._program.accesses.items()
            if any(access.sync[0] is not Order.RELAXED for access in accesses.values())
        ]  # fmt: skip

    def _narrow(self) -> list[str]:
        """Lines with an access that could have a wider scope, or has an order."""
        return [
            place for place, accesses in self._program.accesses.items()
            if any(access.sync != _PLAIN for access in accesses.values())
        ]  # fmt: skip

    def _ordered(self) -> _Chosen | None:
        """The fewest orders of accesses that are there which do the same."""
        actions = [Action("access", place) for place in self._program.accesses]
        chosen: _Chosen = dict.fromkeys(actions, (Order.ACQ_REL, Scope.GPU))
        if not chosen or self._fails(chosen):
            return None
        return self._narrowest(self._fewest(chosen))

    def _tried(self, what: Action) -> Sequence[Sync]:
        """Possible synchronisation at a line, the narrowest first."""
        if what.name != "access":
            return _FENCES
        accesses = self._program.accesses[what.place].values()
        orders = dict.fromkeys(
            order for access in accesses for order in (Order.RELAXED, *access.orders)
        )
        return [(order, scope) for scope in (Scope.CTA, Scope.GPU) for order in orders]

    def _narrowest(self, chosen: _Chosen) -> _Chosen:
        for what in list(chosen):
            for narrower in self._tried(what):
                if narrower == chosen[what]:
                    break
                if not self._fails({**chosen, what: narrower}):
                    chosen[what] = narrower
                    break
        return chosen

    def _fewest(self, chosen: _Chosen) -> _Chosen:
        """Leave changes out, many at once as long as that works."""
        size = -(-len(chosen) // 2)
        while size:
            changes, start = list(chosen), 0
            while start < len(changes):
                part = changes[start : start + size]
                rest = {what: fence for what, fence in chosen.items() if what not in part}
                if not self._fails(rest):
                    chosen = rest
                start += size
            size = size // 2
        return chosen

    # What is redundant

    def _excess(self) -> _Chosen:
        """Fences and orders that no run needs, or not as wide, and that order nothing."""
        changed: _Chosen = {}
        for what, narrower in self._less():
            tried = {**changed, what: narrower}
            if what not in changed and not (self._orders(tried) or self._fails(tried)):
                changed[what] = narrower
        return changed

    @cached_property
    def _unordered(self) -> list[Unordered]:
        """Unordered pairs in each run of the unchanged program."""
        return [unordered_with(trace, Changes()) for trace in self._subject.traces]

    def _orders(self, chosen: _Chosen) -> bool:
        """Whether what changes take away orders accesses in a run: they race without it, or are
        unordered strong ones."""
        changes = self._program.changes(chosen)
        for trace, own in zip(self._subject.traces, self._unordered, strict=True):
            left = unordered_with(trace, changes)
            if left.races or not left.strong <= own.strong:
                return True
        return False

    def _less(self) -> Iterator[tuple[Action, Sync | None]]:
        """Each fence left out, each order relaxed, and then both with narrower scopes; none at
        lines that did not run everywhere."""
        unexecuted = self._program.unexecuted
        for place, fences in self._program.fences.items():
            if place in unexecuted:
                continue
            what, own = Action("fence", place), next(iter(fences.values()))
            yield what, None
            yield from ((what, less) for less in _FENCES if less[1] < own[1])
        for place in self._ordering():
            if place in unexecuted:
                continue
            what = Action("access", place)
            order, scope = next(iter(self._program.accesses[place].values())).sync
            yield what, (Order.RELAXED, scope)
            if scope > Scope.CTA:
                yield what, (order, Scope.CTA)
