"""Detection logic: the decision tables of loads, and of stores and atomics.

This is the specification, one rule per line.  The rules of a table are tried in order, and the
first that holds decides: it gives the row of the table, the condition of the paper's Tables III and
IV, and the entry after the access.  So each access has at most one race.  After a race the entry is
as after a first access, so that one race does not hide the next.

With generations, successive blocks of one slot are different blocks, even in the same warp slot.
State of a slot is shared by them: fences of the later block in the earlier one's warp slot count as
the earlier's, and a block-scope lock is the same lock, so accesses that may be ordered are not
reported.

Where the paper leaves a choice, an entry keeps the latest access: its ``strong`` is not that of all
accesses since initialisation, and a warp that reads its own fenced write again clears ``modified``.
``docs/limits.md`` lists the races missed because of this.

Ref: ScoRD (ISCA'20) Section IV-A, Tables III and IV.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.bloom_filter import is_empty, share_a_lock
from racetrap.golden_model.scord.packets import Packet, PacketKind, Preliminary, RaceKind, TableRow


class Condition(NamedTuple):
    """Condition of the paper: one of Table III rules a race out, one of Table IV is a race.

    Parameters
    ----------
    table, letter : str
        Its place, as ``"IV"`` and ``"a"``; empty where no condition of the paper holds.
    preliminary : Preliminary
        Preliminary check that holds.
    race : RaceKind
        Race found.
    scope : Scope or None
        Scope of the race; None if it is that of the two parties, inside a block or not.
    """

    table: str
    letter: str
    preliminary: Preliminary = Preliminary.NONE
    race: RaceKind = RaceKind.NONE
    scope: Scope | None = None


_INITIALIZATION = Condition("III", "a", preliminary=Preliminary.INITIALIZATION)
_PROGRAM_ORDER = Condition("III", "b", preliminary=Preliminary.PROGRAM_ORDER)
_BARRIER = Condition("III", "c", preliminary=Preliminary.BARRIER)
_BLOCK_FENCE = Condition("IV", "a", race=RaceKind.MISSING_BLOCK_FENCE, scope=Scope.BLOCK)
_DEVICE_FENCE = Condition("IV", "b", race=RaceKind.MISSING_DEVICE_FENCE, scope=Scope.DEVICE)
_NOT_STRONG = Condition("IV", "c", race=RaceKind.NOT_STRONG)
_SCOPED_ATOMIC = Condition("IV", "d", race=RaceKind.SCOPED_ATOMIC, scope=Scope.DEVICE)
_LOCK_ON_LOAD = Condition("IV", "e", race=RaceKind.MISSING_LOCK)
_LOCK_ON_STORE = Condition("IV", "f", race=RaceKind.MISSING_LOCK)
_NOTHING = Condition("", "")


@dataclass(frozen=True)
class Encounter:
    """An access, its metadata entry, and the predicates of the tables.

    Parameters
    ----------
    access : Packet
        The access.  Its scope is 0 unless it is an atomic, and an atomic is strong.
    md : mapping of str to int
        Fields of the entry.
    is_uninitialised : bool
        Whether this is the first access since (re-)initialisation; ``md`` is undefined then.
    tag : int
        Tag of the accessed address, for the entry after the access.
    owner_fences, own_fences : tuple of (int, int)
        Current block and device fence counters of the entry's owner, the warp that it names, and of
        the accessing warp.
    """

    access: Packet
    md: Mapping[str, int]
    is_uninitialised: bool
    tag: int
    owner_fences: tuple[int, int]
    own_fences: tuple[int, int]

    # Parties ----------------------------------------------------------------------------

    def same_block(self) -> bool:
        """Successive blocks of one slot are different: their warps are not ordered as within a
        block."""
        md, access = self.md, self.access
        return (md["block"], md["generation"]) == (access.block, access.generation)

    def own_warp(self) -> bool:
        return self.same_block() and self.md["warp"] == self.access.warp

    # Table III --------------------------------------------------------------------------

    def first_access(self) -> bool:
        return self.is_uninitialised

    def barrier_between(self) -> bool:
        is_other_id = self.md["barrier_id"] != self.access.barrier_id
        return self.same_block() and is_other_id and not self.md["dev_shared"]

    def program_order(self) -> bool:
        return self.own_warp() and not self.md["blk_shared"] and not self.md["dev_shared"]

    # Table IV (a) to (d) ----------------------------------------------------------------

    def block_fenced(self) -> bool:
        """Whether the owner has executed a block fence since its access."""
        return self.md["blk_fence_id"] != self.owner_fences[0]

    def device_fenced(self) -> bool:
        """Whether the owner has executed a device fence since its access."""
        return self.md["dev_fence_id"] != self.owner_fences[1]

    def write_of_another_warp(self) -> bool:
        return bool(self.md["modified"]) and not self.own_warp()

    def write_without_block_fence(self) -> bool:
        is_fenced = self.block_fenced() or self.device_fenced()
        return self.write_of_another_warp() and self.same_block() and not is_fenced

    def write_without_device_fence(self) -> bool:
        return self.write_of_another_warp() and not self.same_block() and not self.device_fenced()

    def access_without_block_fence(self) -> bool:
        """Readers in other blocks, which the entry does not name, need a device fence."""
        is_fenced = self.device_fenced() or (self.block_fenced() and not self.md["dev_shared"])
        return self.same_block() and not is_fenced

    def access_without_device_fence(self) -> bool:
        return not self.same_block() and not self.device_fenced()

    def both_strong(self) -> bool:
        return bool(self.md["strong"] and self.access.strong)

    def not_both_strong(self) -> bool:
        return not self.both_strong()

    def write_not_both_strong(self) -> bool:
        return self.write_of_another_warp() and not self.both_strong()

    def block_scope_atomic(self) -> bool:
        """Whether an atomic of another block had block scope."""
        is_narrow = self.md["is_atom"] and self.md["scope"] == Scope.BLOCK
        return bool(is_narrow) and not self.same_block()

    def both_atomic(self) -> bool:
        return bool(self.md["is_atom"]) and self.access.kind == PacketKind.ATOMIC

    # Table IV (e) and (f) ---------------------------------------------------------------

    def no_locks(self) -> bool:
        return is_empty(self.md["filter"]) and is_empty(self.access.filter)

    def no_common_lock(self) -> bool:
        return not share_a_lock(self.md["filter"], self.access.filter)

    def write_without_locks(self) -> bool:
        return bool(self.md["modified"]) and self.no_locks()

    def write_without_common_lock(self) -> bool:
        return bool(self.md["modified"]) and self.no_common_lock()

    def otherwise(self) -> bool:
        return True

    # The entry after the access --------------------------------------------------------------

    def take(self, **changes: int) -> dict[str, int]:
        """Entry of this access alone: the accessing warp owns it."""
        access = self.access
        return {
            "filter": access.filter,
            "strong": access.strong,
            "scope": access.scope,
            "is_atom": int(access.kind == PacketKind.ATOMIC),
            "dev_shared": 0,
            "blk_shared": 0,
            "modified": int(access.kind != PacketKind.LOAD),
            "barrier_id": access.barrier_id,
            "blk_fence_id": self.own_fences[0],
            "dev_fence_id": self.own_fences[1],
            "warp": access.warp,
            "block": access.block,
            "tag": self.tag,
            "generation": access.generation,
            "unused": 0,
        } | changes  # fmt: skip

    def take_unfenced_write(self) -> dict[str, int]:
        """An unfenced write of the same warp stays visible after its read; a fenced one is lost."""
        is_fenced = self.block_fenced() or self.device_fenced()
        return self.take(modified=int(self.md["modified"] and not is_fenced))

    def take_write(self) -> dict[str, int]:
        """Entry of the reader: drops an ordered write of another warp, keeps one of its own."""
        return self.take(modified=int(self.own_warp()), strong=int(self.both_strong()))

    def take_keeping_readers(self) -> dict[str, int]:
        """An atomic after an atomic orders nothing: fields on other warps are kept."""
        return self.take(**{name: self.md[name] for name in ("dev_shared", "blk_shared", "filter")})

    def take_common_locks(self) -> dict[str, int]:
        return self.take(filter=self.md["filter"] & self.access.filter)

    def add_reader(self) -> dict[str, int]:
        """Entry of its owner, read by the accessing warp as well."""
        if self.same_block() and not self.md["dev_shared"]:
            return {**self.md, "blk_shared": 1}
        return {**self.md, "dev_shared": 1, "blk_shared": 0}

    def add_reader_with_locks(self) -> dict[str, int]:
        """Entry of its owner, with the locks that all have held; the owner's own reads do not
        count as shared."""
        after = dict(self.md)
        if is_empty(self.md["filter"]):
            after["filter"] = self.access.filter
        elif not is_empty(self.access.filter):
            after["filter"] = self.md["filter"] & self.access.filter
        if not self.same_block():
            after |= {"dev_shared": 1, "blk_shared": 0}
        elif not self.own_warp() and not self.md["dev_shared"]:
            after["blk_shared"] = 1
        return after


class TableRule(NamedTuple):
    """Line of a decision table.

    Parameters
    ----------
    row : TableRow
        Row of the table.
    condition : Condition
        Condition of the paper's tables.
    holds : callable
        Whether the line applies to an encounter that no earlier line has decided.
    after : callable
        Fields of the entry after the access.
    """

    row: TableRow
    condition: Condition
    holds: Callable[[Encounter], bool]
    after: Callable[[Encounter], dict[str, int]]


_E, _R = Encounter, TableRow

#: Decisions on a load.
LOAD_TABLE = (
    TableRule(_R.LOAD_FIRST, _INITIALIZATION, _E.first_access, _E.take),
    TableRule(_R.LOAD_FIRST, _BARRIER, _E.barrier_between, _E.take),
    TableRule(_R.LOAD_PROGRAM_ORDER, _PROGRAM_ORDER, _E.program_order, _E.take_unfenced_write),
    TableRule(_R.LOAD_SCOPED_ATOMIC, _SCOPED_ATOMIC, _E.block_scope_atomic, _E.take),
    TableRule(_R.LOAD_UNFENCED_WRITE, _BLOCK_FENCE, _E.write_without_block_fence, _E.take),
    TableRule(_R.LOAD_UNFENCED_WRITE, _DEVICE_FENCE, _E.write_without_device_fence, _E.take),
    TableRule(_R.LOAD_UNFENCED_WRITE, _NOT_STRONG, _E.write_not_both_strong, _E.take),
    TableRule(_R.LOAD_FENCED_WRITE, _NOTHING, _E.write_without_locks, _E.take_write),
    TableRule(_R.LOAD_AFTER_READ, _NOTHING, _E.no_locks, _E.add_reader),
    TableRule(_R.LOAD_NO_COMMON_LOCK, _LOCK_ON_LOAD, _E.write_without_common_lock, _E.take),
    TableRule(_R.LOAD_LOCKED, _NOTHING, _E.otherwise, _E.add_reader_with_locks),
)

#: Decisions on a store or an atomic.
STORE_TABLE = (
    TableRule(_R.STORE_FIRST, _INITIALIZATION, _E.first_access, _E.take),
    TableRule(_R.STORE_FIRST, _BARRIER, _E.barrier_between, _E.take),
    TableRule(_R.STORE_PROGRAM_ORDER, _PROGRAM_ORDER, _E.program_order, _E.take),
    TableRule(_R.STORE_SCOPED_ATOMIC, _SCOPED_ATOMIC, _E.block_scope_atomic, _E.take),
    TableRule(_R.STORE_BOTH_ATOMIC, _NOTHING, _E.both_atomic, _E.take_keeping_readers),
    TableRule(_R.STORE_UNFENCED_ACCESS, _BLOCK_FENCE, _E.access_without_block_fence, _E.take),
    TableRule(_R.STORE_UNFENCED_ACCESS, _DEVICE_FENCE, _E.access_without_device_fence, _E.take),
    TableRule(_R.STORE_NOT_STRONG, _NOT_STRONG, _E.not_both_strong, _E.take),
    TableRule(_R.STORE_FENCED_ACCESS, _NOTHING, _E.no_locks, _E.take),
    TableRule(_R.STORE_NO_COMMON_LOCK, _LOCK_ON_STORE, _E.no_common_lock, _E.take),
    TableRule(_R.STORE_LOCKED, _NOTHING, _E.otherwise, _E.take_common_locks),
)


def decide(encounter: Encounter) -> tuple[TableRule, dict[str, int]]:
    """Decision on an access: the rule that holds, and the fields of the entry after it."""
    table = LOAD_TABLE if encounter.access.kind == PacketKind.LOAD else STORE_TABLE
    rule = next(rule for rule in table if rule.holds(encounter))
    return rule, rule.after(encounter)
