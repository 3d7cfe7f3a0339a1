"""`racetrap trace`: trace files."""

from __future__ import annotations

from racetrap.commands.shared.lazy_group import lazy_group

_LINES = {
    "capture": "Run a kernel, and write its trace.",
    "convert": "Write a trace in its other form.",
    "info": "Check a trace file, and summarise it.",
    "record": "Run a program with threads or accelerators, and write its trace.",
    "slice": "Write selected accesses of a trace of threads, and all that orders them.",
}


@lazy_group("trace", _LINES)
def command() -> None:
    """Record, inspect and convert trace files."""
