"""Rules of races with non-coherent accelerators, with explanations and remedies.

Ref: Young (UBC 2020) Section 3.3; rules that it has keep their names.
"""

from __future__ import annotations

from enum import Enum

from racetrap.golden_model.trace.noncoherent.operations import SYNCS, OperationKind


class Rule(Enum):
    """Rule that a pair of operations breaks; the value is its name in reports."""

    UNCACHED_READ_DIRTY = "1b"
    UNCACHED_READ_DMA = "1c"
    UNCACHED_WRITE_DIRTY = "2b"
    UNCACHED_WRITE_DMA = "2c"
    CACHED_READ_DMA = "3j"
    CACHED_WRITE_DMA = "4g"
    DMA_READ_DIRTY = "5b"
    DMA_WRITE_DIRTY = "6b"
    #: Not in the thesis: two engines without an order.
    TWO_ENGINES = "two-engines"
    #: Not in the thesis: the cache may hold an older value than memory.
    STALE_READ = "stale-read"
    #: Not in the thesis: a write-back includes stale neighbours of the bytes written.
    STALE_WRITE_BACK = "stale-write-back"
    #: Not in the thesis: dirty bytes are dropped, unless they were written back before.
    LOST_DATA = "lost-data"


#: Rules that only a cache with dirty lines breaks: with write-through nobody does.
WRITE_BACK_RULES = frozenset({
    Rule.UNCACHED_READ_DIRTY, Rule.UNCACHED_WRITE_DIRTY, Rule.DMA_READ_DIRTY,
    Rule.DMA_WRITE_DIRTY, Rule.STALE_WRITE_BACK, Rule.LOST_DATA,
})  # fmt: skip


class Overlap(Enum):
    """Unit that two operations have in common."""

    BYTES = "bytes"
    GRANULE = "granule"
    LINE = "line"


#: Rules whose race is real even if only the granule is common, whatever the earlier operation: a
#: write-back overwrites what the other one writes.
_REAL_BY_GRANULE = frozenset({
    Rule.UNCACHED_WRITE_DIRTY, Rule.DMA_WRITE_DIRTY, Rule.STALE_WRITE_BACK, Rule.LOST_DATA,
})  # fmt: skip


def is_harmless_alone(rule: Rule, earlier: int, overlap: Overlap) -> bool:
    """Whether a report is false sharing: it cannot corrupt a byte that either operation uses.

    Parameters
    ----------
    rule : Rule
        The rule.
    earlier : int
        ``OperationKind`` of the earlier operation.
    overlap : Overlap
        What the two operations have in common.
    """
    if overlap is Overlap.BYTES or rule in _REAL_BY_GRANULE:
        return False
    return rule is not Rule.CACHED_WRITE_DMA or earlier == OperationKind.DMA_READ


_SENTENCES = {
    Rule.UNCACHED_READ_DIRTY: "The cached write may still be in the cache: "
    "the uncached read takes the old value from memory.",
    Rule.UNCACHED_READ_DMA: "No sync orders the accelerator's write and the uncached read.",
    Rule.UNCACHED_WRITE_DIRTY: "The cached write may still be in the cache: "
    "its write-back can overwrite the uncached write.",
    Rule.UNCACHED_WRITE_DMA: "No sync orders the accelerator's access and the uncached write.",
    Rule.CACHED_READ_DMA: "No sync orders the accelerator's write and the fill of the line "
    "that is read.",
    Rule.CACHED_WRITE_DMA: "No sync orders the accelerator's access and the arrival of the "
    "cached write in memory.",
    Rule.DMA_READ_DIRTY: "The cached write may still be in the cache: "
    "the accelerator reads the old value from memory.",
    Rule.DMA_WRITE_DIRTY: "The cached write may still be in the cache: "
    "its write-back can overwrite what the accelerator writes.",
    Rule.TWO_ENGINES: "Two engines access the same bytes, one of them writes, and no sync "
    "orders them.",
    Rule.STALE_READ: "The line may be in the cache since before memory was written: "
    "the cached read takes the old value.",
    Rule.STALE_WRITE_BACK: "The line may be in the cache since before memory was written: "
    "its write-back puts old neighbours of the written bytes into memory.",
    Rule.LOST_DATA: "The cached write may still be in the cache: the invalidation drops it.",
}

_FLUSH_BEFORE = "Flush the range of the cached write before the {later}."
_CLEAN_BEFORE = "Clean or flush the range of the cached write before the {later}."
_SYNC_BEFORE = "Sync with the accelerator before the {later}."
_CURES = {
    Rule.UNCACHED_READ_DIRTY: _CLEAN_BEFORE,
    Rule.UNCACHED_READ_DMA: _SYNC_BEFORE,
    Rule.UNCACHED_WRITE_DIRTY: _FLUSH_BEFORE,
    Rule.UNCACHED_WRITE_DMA: _SYNC_BEFORE,
    Rule.CACHED_READ_DMA: _SYNC_BEFORE,
    Rule.CACHED_WRITE_DMA: _SYNC_BEFORE,
    Rule.DMA_READ_DIRTY: _CLEAN_BEFORE,
    Rule.DMA_WRITE_DIRTY: _FLUSH_BEFORE,
    Rule.TWO_ENGINES: "Sync with the first engine before the {later}.",
    Rule.STALE_READ: "Invalidate the range after the write to memory and before the {later}.",
    Rule.STALE_WRITE_BACK: "Invalidate the range after the write to memory and before the "
    "{later}, or keep the two objects in different write-back granules.",
    Rule.LOST_DATA: "Clean the range before the {later}, or leave the cached write out.",
}
_CLEANS = frozenset({
    OperationKind.CACHE_CLEAN, OperationKind.CACHE_FLUSH, OperationKind.CLEAN_ALL,
    OperationKind.FLUSH_ALL,
})  # fmt: skip
_INVALIDATIONS = frozenset({
    OperationKind.CACHE_INVALIDATE, OperationKind.CACHE_FLUSH, OperationKind.INVALIDATE_ALL,
    OperationKind.FLUSH_ALL,
})  # fmt: skip
#: What is missing between the two operations, in two words, and the kinds that would do.
_MISSING = {
    Rule.UNCACHED_READ_DIRTY: ("no clean", _CLEANS),
    Rule.UNCACHED_READ_DMA: ("no sync", SYNCS),
    Rule.UNCACHED_WRITE_DIRTY: ("no flush", _CLEANS),
    Rule.UNCACHED_WRITE_DMA: ("no sync", SYNCS),
    Rule.CACHED_READ_DMA: ("no sync", SYNCS),
    Rule.CACHED_WRITE_DMA: ("no sync", SYNCS),
    Rule.DMA_READ_DIRTY: ("no clean", _CLEANS),
    Rule.DMA_WRITE_DIRTY: ("no flush", _CLEANS),
    Rule.TWO_ENGINES: ("no sync", SYNCS),
    Rule.STALE_READ: ("no invalidate", _INVALIDATIONS),
    Rule.STALE_WRITE_BACK: ("no invalidate", _INVALIDATIONS),
    Rule.LOST_DATA: ("no clean", _CLEANS),
}
_SEPARATE = "Pad or align the two objects so that they have no {unit} in common."
_UNITS = {Overlap.GRANULE: "write-back granule", Overlap.LINE: "cache line"}


def kind_name(kind: int) -> str:
    """Name of a kind of operation for people."""
    return OperationKind(kind).name.lower().replace("_", " ")


def sentence(rule: Rule) -> str:
    """The rule in words."""
    return _SENTENCES[rule]


def cure(rule: Rule, later: int, overlap: Overlap) -> str:
    """Remedy: the change to the program.

    Parameters
    ----------
    rule : Rule
        The rule.
    later : int
        ``OperationKind`` of the operation that found the race.
    overlap : Overlap
        What the two operations have in common.
    """
    if _lacks_operation(rule, overlap):
        return _CURES[rule].format(later=kind_name(later))
    return _SEPARATE.format(unit=_UNITS[overlap])


def missing(rule: Rule, overlap: Overlap) -> tuple[str, frozenset[OperationKind]]:
    """What the remedy adds between the two operations, in a few words, and the kinds of operations
    that do it: none if the two should be kept apart.

    Parameters
    ----------
    rule : Rule
        The rule.
    overlap : Overlap
        What the two operations have in common.
    """
    if _lacks_operation(rule, overlap):
        return _MISSING[rule]
    return f"same {_UNITS[overlap].rpartition(' ')[2]}", frozenset()


def _lacks_operation(rule: Rule, overlap: Overlap) -> bool:
    """Whether an operation is missing; else the two only share a line or granule."""
    return overlap is Overlap.BYTES or rule is Rule.STALE_WRITE_BACK
