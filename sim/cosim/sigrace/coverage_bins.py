"""The bins of SigRace's functional coverage, and the reasons why some cannot be hit."""

from __future__ import annotations

from racetrap.golden_model.sigrace.packets import (
    Cause,
    Conflict,
    CoreOp,
    Drop,
    Mode,
    Relation,
)

#: Maximum granules of an access.
_MOST_GRANULES = 5
_ACCESSES = ("load", "store")
_CAUSES = [cause.name.lower() for cause in Cause if cause]
#: Positions of an entry in its queue.
PLACES = ("newest", "middle", "oldest")
#: Name of each combination of intersections that are not null.
CONFLICTS: dict[int, str] = {
    number: "+".join(kind.name.lower() for kind in Conflict if kind & number)  # type: ignore[union-attr]
    or "none"
    for number in range(1 << len(Conflict))
}


def _configurations() -> list[str]:
    """Corners of the parameters, each of which needs its own build."""
    return [
        "config.form.sets", "config.form.hashed", "config.lsb.h3", "config.lsb.one_hot",
        "config.cores.one", "config.cores.several",
        "config.contexts.one", "config.contexts.several",
        "config.threads.fewer_than_contexts", "config.threads.as_contexts",
        "config.threads.more_than_contexts",
        "config.queue.one_entry", "config.queue.several_entries",
    ]  # fmt: skip


def _core_unit() -> list[str]:
    names = [f"op.{op.name.lower()}" for op in CoreOp]
    names += ["op.undefined"]
    names += [f"access.{state}.{access}" for state in ("collected", "off") for access in _ACCESSES]
    names += [f"access.granules.{count}" for count in range(1, _MOST_GRANULES + 1)]
    names += ["access.unaligned", "access.wraps"]
    names += [f"block.{cause}.{end}" for cause in _CAUSES for end in ("sent", "empty")]
    names += [
        "block.full.first_granule", "block.full.mid_access",
        "block.limit.reached", "block.limit.passed",
        "block.reads", "block.writes", "block.reads_and_writes", "block.usb_limit",
        "block.discarded", "sequence.wraps",
        "timestamp.increment", "timestamp.saturates_by_sync", "timestamp.stays_saturated",
        "timestamp.write", "timestamp.saturates_by_write",
    ]  # fmt: skip
    names += [
        f"index.out_of_range.{op}"
        for op in ("ts_write", "switch_in", "trt_write", "conflict_write")
    ]
    names += [
        f"mode.{mode}.{flag}"
        for mode in (*(mode.name.lower() for mode in Mode), "undefined")
        for flag in ("free", "conflicting")
    ]
    names += [f"watch.{outcome}.{access}" for outcome in ("hit", "miss") for access in _ACCESSES]
    return [*names, "trap.several_of_an_access", "trap.full", "trap.stalled",
            "event.stalled", "event.back_to_back"]  # fmt: skip


def _rdm() -> list[str]:
    names = [f"drop.{drop.name.lower()}" for drop in Drop if drop]
    names += [f"push.{cause}" for cause in _CAUSES]
    names += [f"relation.{one.name.lower()}.{place}" for one in Relation for place in PLACES]
    names += [f"conflict.{name}" for name in CONFLICTS.values()]
    names += [
        "queue.empty", "queue.partly_full", "queue.full", "queue.overflow",
        "queue.lost.one", "queue.lost.several", "queue.full_with_predecessor",
        "message.ignored", "message.cut_by_reset", "link.stalled", "link.shared",
        "remap.thread_comes", "remap.thread_leaves", "remap.under_way", "remap.nothing_under_way",
        "remap.thread_moves", "remap.turns_taken",
    ]  # fmt: skip
    return names


def _software() -> list[str]:
    """Bins only of the testbench: registers, the interrupt line, the log at the end of a run."""
    return [
        "log.empty", "log.partly_full", "log.full", "log.dropped",
        "rollback.none", "rollback.full", "rollback.blocks", "rollback.sync",
        "rollback.interrupt", "rollback.masked",
        "software.flush", "software.flush_while_scanning", "software.clear_log",
        "software.clear_counters", "software.disable",
        "status.saturated", "status.sequence_gap", "register.error", "register.partial_write",
    ]  # fmt: skip


#: All bins, in the order of reports.
BINS: dict[str, None] = dict.fromkeys([*_configurations(), *_core_unit(), *_rdm(), *_software()])

#: Bins that only some instances have.
OPTIONAL_BINS: dict[str, None] = {}

#: Bins that no stimulus can hit, with the reason.
UNREACHABLE: dict[str, str] = {
    "block.full.empty": "a set that holds the most USB values is not empty",
}
