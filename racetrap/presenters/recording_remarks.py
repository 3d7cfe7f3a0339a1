"""Sentences on a recording of threads: what its user should know before the trace is trusted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: What is not in a trace, before its number.
_LOSSES = {
    "outliving_threads": "Threads that still ran after the grace period, whose later "
    "events are missing (--grace SECONDS extends it)",
    "events_after_end": "Events that are missing because their threads had ended",
    "unknown_frames": "Function calls too deep for the tree of a thread's calls, whose accesses "
    "have no stack",
    "formats": "Unsupported formats, whose accesses to arguments are missing",
    "large_frees": "Freed blocks of more than 64 KiB, whose first 64 KiB are recorded as written",
    "children": "Forked processes, whose events are missing (--follow child records one)",
    "frames": "Functions on stacks without a name, because a trace names at most 50,000",
}


def recording_remarks(summary: dict[str, Any]) -> Iterator[str]:
    """Remarks on a recording, from what JSON says of it."""
    if summary["ending"]:
        yield f"Program {summary['ending']}; the trace ends there."
    for thread in summary["waiting"]:
        place = thread["place"] or f"pc {thread['pc']:#x}"
        holds = "no lock that a thread holds"
        if thread["holder"] is not None:
            since = thread["holder_place"] or f"pc {thread['holder_pc']:#x}"
            holds = f"a lock that thread {thread['holder']} holds since {since}"
        address = thread["address_text"]
        yield f"Thread {thread['thread']} is blocked after {place}, waiting for {address}, {holds}."
    if summary["threads"] == 1:
        yield "Program made no threads, so the trace has no races: check the program's output."
    if option := summary["optimisation"]:
        yield (
            f"Compiled with {option}, because no option sets a level: the compiler may remove "
            "accesses that race (--cc -Og keeps them)."
        )
    for loss, count in summary["losses"].items():
        yield f"{_LOSSES[loss]}: {count:,}."
    if summary["unseen_functions"]:
        names = ", ".join(summary["unseen_functions"])
        yield f"Functions of the C library whose writes are not recorded: {names}."
