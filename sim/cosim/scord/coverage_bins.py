"""The bins of functional coverage, and the reasons why some cannot be hit."""

from __future__ import annotations

from racetrap.golden_model.events import Scope
from racetrap.golden_model.scord.lock_table import AFTER_FENCE, CAS_SCOPE
from racetrap.golden_model.scord.packets import (
    LockState,
    Preliminary,
    RaceKind,
    TableRow,
    TransactionKind,
)

#: Accesses to one entry at most this far apart overlap in a bank's pipeline.
_PIPELINE_DEPTH = 8
_WRITERS = ("store", "atomic")
_ACCESSES = ("load", *_WRITERS)
_SCOPES = ("block", "device")


def lock_change(before: LockState, after: LockState) -> str:
    """Name of a lock's change by a fence."""
    return f"{before.name.lower()}_to_{after.name.lower()}"


def distance_bin(distance: int) -> str:
    """Bin of the steps between two accesses to one entry."""
    return f"hazard.distance.{distance if distance <= _PIPELINE_DEPTH else 'far'}"


def _names(enumeration: type) -> list[str]:
    return [member.name.lower() for member in enumeration]  # type: ignore[attr-defined]


def _rows() -> list[str]:
    loads = [f"row.{row}.load" for row in _names(TableRow) if row.startswith("load")]
    stores = [
        f"row.{row}.{access}"
        for row in _names(TableRow)
        if row.startswith("store")
        for access in _WRITERS
    ]
    return loads + stores


def _checks() -> list[str]:
    names = [
        f"preliminary.{check}.{access}" for check in _names(Preliminary)[1:] for access in _ACCESSES
    ]
    names += [
        f"race.{race}.{access}.{scope}"
        for race in _names(RaceKind)[1:]
        for access in _ACCESSES
        for scope in _SCOPES
    ]
    return names


def _locks() -> list[str]:
    names = []
    for scope in Scope:
        word = scope.name.lower()
        names += [
            f"lock.fence_{word}.{lock_change(before, after)}"
            for before, after in AFTER_FENCE[scope].items()
        ]
        names += [
            f"lock.cas_{word}.{outcome}" for outcome in ("inserted", "already_there", "oldest_left")
        ]
        held = [state.name.lower() for state in LockState if CAS_SCOPE.get(state) == scope]
        names += [f"lock.exch_{word}.{state}" for state in [*held, "not_there"]]
    return [*names, "lock.several_words", "lock.cleared"]


def _testbench() -> list[str]:
    """Bins of events that only a testbench can see."""
    channels = [f"axi.{channel}.stalled" for channel in ("ar", "aw", "w", "r", "b")]
    return [
        *channels, "axi.r.reordered", "axi.r.error", "axi.b.error",
        "entry.forwarded", "entry.read", "packet.stalled",
        "transaction.stalled", "transaction.back_to_back",
        "report.read", "report.ring_full", "report.dropped", "report.suppressed", "irq",
    ]  # fmt: skip


#: All bins, in the order of reports.
BINS: dict[str, None] = dict.fromkeys([
    *(f"transaction.{kind}" for kind in _names(TransactionKind)), "transaction.several_packets",
    *_rows(), *_checks(), *_locks(),
    "fence.block", "fence.device", "wrap.fence_id.block", "wrap.fence_id.device", "wrap.barrier_id",
    "access.unmonitored", "access.tag_conflict", "access.read_error", "access.entry_unchanged",
    "region.first_line", "region.inner_line", "region.last_line",
    *(distance_bin(distance) for distance in range(1, _PIPELINE_DEPTH + 2)),
    *_testbench(), "launch",
])  # fmt: skip


#: Bins of an instance whose access buffers skip accesses.
LEFT_OUT_BINS: dict[str, None] = dict.fromkeys(
    f"access.left_out.{access}.{size}" for access in _ACCESSES for size in ("word", "words", "line")
)
#: Bins of an instance with slot generations.
GENERATION_BINS: dict[str, None] = dict.fromkeys([
    *(f"generation.{party}.{access}" for party in ("same_warp", "other_warp")
      for access in _ACCESSES),
    "wrap.generation",
])  # fmt: skip
#: Bins that only some instances have.
OPTIONAL_BINS = LEFT_OUT_BINS | GENERATION_BINS


_ALWAYS_READY = "the device takes every response at once: it keeps room for what it asked for"

#: Bins that no stimulus can hit, with the reason.
UNREACHABLE: dict[str, str] = {
    **{
        f"race.{race}.{access}.{scope}": reason
        for access in _ACCESSES
        for race, scope, reason in (
            ("missing_block_fence", "device", "a missing block fence is a race inside a block"),
            ("missing_device_fence", "block", "a missing device fence is a race between blocks"),
            ("scoped_atomic", "block", "the owner's atomic is of another block"),
        )
    },
    "row.store_both_atomic.store": "the row is for atomics after atomics",
    "axi.r.stalled": _ALWAYS_READY,
    "axi.b.stalled": _ALWAYS_READY,
}
