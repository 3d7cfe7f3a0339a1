"""Packed detection logic: the decision tables of ``detection_logic`` on packed entries, fast.

Ref: ScoRD (ISCA'20) Section IV-A, Tables III and IV.
"""

from __future__ import annotations

from typing import Final

from racetrap.golden_model.scord.bloom_filter import is_empty, share_a_lock
from racetrap.golden_model.scord.metadata import (
    BLK_SHARED,
    DEV_SHARED,
    FILTER_MASK,
    IS_ATOM,
    MODIFIED,
    SCOPE,
    STRONG,
    EntryShifts,
)
from racetrap.golden_model.scord.packets import Packet, PacketKind, Preliminary, RaceKind, TableRow
from racetrap.golden_model.scord.params import ScordParams

#: Row taken, preliminary check that held, race found, entry left behind.
Decision = tuple[TableRow, Preliminary, RaceKind, int]

# This is the innermost code of every long run: enumeration members are looked up once, those
# that are compared are plain numbers, and all are final, so that a compiler can rely on them.
_LOAD: Final = int(PacketKind.LOAD)
_ATOMIC: Final = int(PacketKind.ATOMIC)
_NONE: Final = Preliminary.NONE
_INITIALIZATION: Final = Preliminary.INITIALIZATION
_PROGRAM_ORDER: Final = Preliminary.PROGRAM_ORDER
_BARRIER: Final = Preliminary.BARRIER
_NO_RACE: Final = RaceKind.NONE

_SHARED: Final = BLK_SHARED | DEV_SHARED
_WEAK: Final = ~STRONG


class PackedDetectionLogic:
    """Checks one access against one packed metadata entry; holds no state.

    Parameters
    ----------
    params : ScordParams
        Configuration that sets the positions of an entry's fields.
    """

    def __init__(self, params: ScordParams) -> None:
        self._shifts = EntryShifts(params)

    def decide(
        self,
        packet: Packet,
        entry: int,
        is_uninitialised: bool,
        tag: int,
        owner_blk: int,
        owner_dev: int,
        own_blk: int,
        own_dev: int,
    ) -> Decision:
        """Decide one access.

        Parameters
        ----------
        packet : Packet
            The access.  Its scope is 0 unless it is an atomic, and an atomic is strong.
        entry : int
            Metadata entry as read; ignored if ``is_uninitialised``.
        is_uninitialised : bool
            Whether this is the first access since (re-)initialisation.
        tag : int
            Tag of the accessed address, for the entry left behind.
        owner_blk, owner_dev : int
            Fence counters now of the warp that owns the entry.
        own_blk, own_dev : int
            Fence counters now of the accessing warp.
        """
        kind, scope, strong, block, warp, barrier_id, locks, _, _, generation = packet
        shifts = self._shifts
        warp_bits = shifts.warp_bits
        accessor = block << warp_bits | warp
        take = (
            locks | strong << 16 | scope << 17 | barrier_id << shifts.barrier
            | own_blk << shifts.blk_fence | own_dev << shifts.dev_fence
            | accessor << shifts.owner | tag << shifts.tag | generation << shifts.generation
        )  # fmt: skip
        is_load = kind == _LOAD
        if not is_load:
            take |= MODIFIED | IS_ATOM if kind == _ATOMIC else MODIFIED
        first = TableRow.LOAD_FIRST if is_load else TableRow.STORE_FIRST
        if is_uninitialised:
            return first, _INITIALIZATION, _NO_RACE, take

        owner = entry >> shifts.owner & shifts.owner_mask
        same_block = (
            owner >> warp_bits == block
            and entry >> shifts.generation & shifts.generation_mask == generation
        )
        if (
            same_block
            and entry >> shifts.barrier & shifts.barrier_mask != barrier_id
            and not entry & DEV_SHARED
        ):
            return first, _BARRIER, _NO_RACE, take

        blk_fenced = entry >> shifts.blk_fence & shifts.fence_mask != owner_blk
        dev_fenced = entry >> shifts.dev_fence & shifts.fence_mask != owner_dev
        own_warp = same_block and owner == accessor
        if own_warp and not entry & _SHARED:
            if not is_load:
                return TableRow.STORE_PROGRAM_ORDER, _PROGRAM_ORDER, _NO_RACE, take
            # An unfenced write of the own warp must stay visible behind this read.
            if not blk_fenced and not dev_fenced:
                take |= entry & MODIFIED
            return TableRow.LOAD_PROGRAM_ORDER, _PROGRAM_ORDER, _NO_RACE, take

        if not same_block and entry & IS_ATOM and not entry & SCOPE:
            return (
                TableRow.LOAD_SCOPED_ATOMIC if is_load else TableRow.STORE_SCOPED_ATOMIC,
                _NONE,
                RaceKind.SCOPED_ATOMIC,
                take,
            )
        if is_load:
            return _load(take, entry, locks, strong, own_warp, same_block, blk_fenced, dev_fenced)
        return _store(take, entry, locks, strong, same_block, blk_fenced, dev_fenced)


def _load(
    take: int, entry: int, locks: int, strong: int,
    own_warp: bool, same_block: bool, blk_fenced: bool, dev_fenced: bool,
) -> Decision:  # fmt: skip
    """Rows of LOAD_TABLE from LOAD_UNFENCED_WRITE on."""
    modified = entry & MODIFIED
    if modified and not own_warp:
        if same_block:
            if not blk_fenced and not dev_fenced:
                return TableRow.LOAD_UNFENCED_WRITE, _NONE, RaceKind.MISSING_BLOCK_FENCE, take
        elif not dev_fenced:
            return TableRow.LOAD_UNFENCED_WRITE, _NONE, RaceKind.MISSING_DEVICE_FENCE, take
        if not (strong and entry & STRONG):
            return TableRow.LOAD_UNFENCED_WRITE, _NONE, RaceKind.NOT_STRONG, take

    entry_locks = entry & FILTER_MASK
    entry_empty, own_empty = is_empty(entry_locks), is_empty(locks)
    if entry_empty and own_empty:
        if modified:
            if own_warp:
                take |= MODIFIED
            return TableRow.LOAD_FENCED_WRITE, _NONE, _NO_RACE, take & (entry | _WEAK)
        if same_block and not entry & DEV_SHARED:
            return TableRow.LOAD_AFTER_READ, _NONE, _NO_RACE, entry | BLK_SHARED
        return TableRow.LOAD_AFTER_READ, _NONE, _NO_RACE, entry & ~BLK_SHARED | DEV_SHARED

    if modified and not share_a_lock(entry_locks, locks):
        return TableRow.LOAD_NO_COMMON_LOCK, _NONE, RaceKind.MISSING_LOCK, take
    if entry_empty:
        entry = entry & ~FILTER_MASK | locks
    elif not own_empty:
        entry &= ~FILTER_MASK | locks
    if not same_block:
        entry = entry & ~BLK_SHARED | DEV_SHARED
    elif not own_warp and not entry & DEV_SHARED:
        entry |= BLK_SHARED
    return TableRow.LOAD_LOCKED, _NONE, _NO_RACE, entry


def _store(
    take: int, entry: int, locks: int, strong: int,
    same_block: bool, blk_fenced: bool, dev_fenced: bool,
) -> Decision:  # fmt: skip
    """Rows of STORE_TABLE from STORE_BOTH_ATOMIC on."""
    if entry & IS_ATOM and take & IS_ATOM:
        kept = _SHARED | FILTER_MASK
        return TableRow.STORE_BOTH_ATOMIC, _NONE, _NO_RACE, take & ~kept | entry & kept
    if not dev_fenced:
        if not same_block:
            return TableRow.STORE_UNFENCED_ACCESS, _NONE, RaceKind.MISSING_DEVICE_FENCE, take
        if not blk_fenced or entry & DEV_SHARED:
            return TableRow.STORE_UNFENCED_ACCESS, _NONE, RaceKind.MISSING_BLOCK_FENCE, take
    if not (strong and entry & STRONG):
        return TableRow.STORE_NOT_STRONG, _NONE, RaceKind.NOT_STRONG, take
    # From here on both are strong, so G of the entry and of ``take`` are 1 already.
    entry_locks = entry & FILTER_MASK
    if is_empty(entry_locks) and is_empty(locks):
        return TableRow.STORE_FENCED_ACCESS, _NONE, _NO_RACE, take
    if not share_a_lock(entry_locks, locks):
        return TableRow.STORE_NO_COMMON_LOCK, _NONE, RaceKind.MISSING_LOCK, take
    return TableRow.STORE_LOCKED, _NONE, _NO_RACE, take & (entry | ~FILTER_MASK)
