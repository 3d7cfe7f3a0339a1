"""Text form of the thesis, which has no header: one operation a line, with its range of bytes.

    cached_write cached_write 0x7ffd97898fd0-0x7ffd97898fd9
    cache_flusha 0x7ffd97898fd0-0x7ffd97898fd9
    do_dma_read 0x7ffd97898fd0-0x7ffd97898fd9
    sync

Ref: Young (UBC 2020) Section 4.2, Figures 4.2 and 4.3.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice

import numpy as np

from racetrap.golden_model.checks import unknown_name
from racetrap.golden_model.trace.container.columns import event_records
from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.operations import (
    NoncoherentTraceHeader,
    Operation,
    OperationKind,
)
from racetrap.golden_model.trace.noncoherent.schema import OPERATION_DTYPE, OPERATION_SCHEMA

_KINDS = {
    "cached_read": OperationKind.CACHED_READ,
    "cached_write": OperationKind.CACHED_WRITE,
    "uncached_read": OperationKind.UNCACHED_READ,
    "uncached_write": OperationKind.UNCACHED_WRITE,
    "do_dma_read": OperationKind.DMA_READ,
    "do_dma_write": OperationKind.DMA_WRITE,
    "cache_flusha": OperationKind.CACHE_FLUSH,
    "sync": OperationKind.SYNC_ALL,
}
#: The word may occur twice: the thesis' own consolidation writes it so.
_LINE = re.compile(r"(\w+)(?: +\1)?(?: +0x([0-9a-fA-F]{1,16})-0x([0-9a-fA-F]{1,16}))?")
#: Lines turned into records at a time.
_BLOCK = 1 << 16
_SYNC = Operation(OperationKind.SYNC_ALL)


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Numbered lines that are not blank."""
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            text = line.strip()
            if text:
                yield number, text


def is_thesis_text(path: str | os.PathLike[str]) -> bool:
    """Whether the first line of a file is an operation of the thesis' form."""
    _, line = next(_lines(path), (0, ""))
    return line.split(" ", 1)[0] in _KINDS


def _operation(line: str, place: str) -> Operation:
    match = _LINE.fullmatch(line)
    if match is None:
        raise TraceError(
            place, Rule.TEXT,
            f"Line must be an operation and a range such as 0x10-0x1f, not {line[:80]!r}",
        )  # fmt: skip
    word, first, last = match.groups()
    kind = _KINDS.get(word)
    if kind is None:
        raise TraceError(place, Rule.KIND, unknown_name("operation", word, _KINDS))
    if (first is None) != (kind == OperationKind.SYNC_ALL):
        due = "no range" if first else "a range"
        raise TraceError(place, Rule.TEXT, f"Operation {word} takes {due}")
    if first is None:
        return _SYNC
    low, high = int(first, 16), int(last, 16)
    if high < low:
        raise TraceError(
            place, Rule.SIZE, f"Range must end at {low:#x} or behind, not at {high:#x}"
        )
    return Operation(kind, low, high - low + 1)


def read_thesis_text(path: str | os.PathLike[str]) -> NoncoherentTrace:
    """Trace in the thesis' form, which does not describe the hardware: defaults are used.

    Raises
    ------
    OSError
        If the file cannot be read.
    TraceError
        If a line is malformed; names the file and the line.
    """
    lines, blocks = _lines(path), [np.empty(0, OPERATION_DTYPE)]
    while block := list(islice(lines, _BLOCK)):
        operations = [_operation(line, f"{path}, line {number}") for number, line in block]
        numbers = [number for number, _ in block]
        blocks.append(event_records(
            OPERATION_SCHEMA, operations,
            lambda row, numbers=numbers: f"{path}, line {numbers[row]}",  # type: ignore[misc]
        ))  # fmt: skip
    header = NoncoherentTraceHeader(layout="host", source=os.path.basename(path))
    return NoncoherentTrace(header, np.concatenate(blocks))
