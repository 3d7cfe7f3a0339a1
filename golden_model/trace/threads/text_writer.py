"""Text form of a trace of threads, writing: one event a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from racetrap.golden_model.trace.container.text import FIRST_LINE, provenance_lines
from racetrap.golden_model.trace.threads.events import (
    ATOMIC_KINDS,
    MemoryOrder,
    SyncClass,
    ThreadEvent,
    ThreadEventKind,
    ThreadTraceHeader,
)
from racetrap.golden_model.trace.threads.records import USED_FIELDS

if TYPE_CHECKING:
    from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

__all__ = ["VALUE_NAMES", "VALUE_WORDS", "dump_text"]

#: What the value of a kind is called where it is a number.
VALUE_NAMES = {
    ThreadEventKind.BARRIER_ARRIVE: "width",
    ThreadEventKind.BARRIER_LEAVE: "width",
    ThreadEventKind.CREATE: "child",
    ThreadEventKind.JOIN: "child",
    ThreadEventKind.ALLOCATE: "bytes",
}
_CLASSES = {item.name.lower(): item for item in SyncClass}
_ORDERS = {item.name.lower(): item for item in MemoryOrder}
#: Words for the value of a kind where it is a code.
VALUE_WORDS: dict[ThreadEventKind, dict[str, int]] = {
    ThreadEventKind.ACQUIRE: {**_CLASSES},
    ThreadEventKind.RELEASE: {**_CLASSES},
    **{kind: {**_ORDERS} for kind in ATOMIC_KINDS},
}
_CODES = {kind: tuple(words) for kind, words in VALUE_WORDS.items()}


def _header_lines(header: ThreadTraceHeader, events: int) -> Iterator[str]:
    yield FIRST_LINE
    yield f"system {header.system}"
    yield f"threads {header.threads}"
    yield from provenance_lines(header.source, header.seed, header.locations, events)


def _event_line(event: ThreadEvent) -> str:
    kind = ThreadEventKind(event.kind)
    words = [kind.name.lower(), f"thread={event.thread}"]
    if event.pc:
        words.append(f"pc={event.pc:#x}")
    if event.instructions:
        words.append(f"instructions={event.instructions}")
    used = USED_FIELDS[kind]
    if "address" in used:
        words.append(f"address={event.address:#x}")
    if "size" in used:
        words.append(f"size={event.size}")
    if kind in VALUE_NAMES:
        words.append(f"{VALUE_NAMES[kind]}={event.value}")
    elif kind in _CODES:
        words.append(_CODES[kind][event.value])
    return " ".join(words)


def dump_text(trace: ThreadTrace, file: TextIO) -> None:
    """Write a trace in its text form."""
    for line in _header_lines(trace.header, len(trace)):
        file.write(line + "\n")
    file.write("\n")
    for event in trace:
        file.write(_event_line(event) + "\n")
