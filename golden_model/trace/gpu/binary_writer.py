"""Binary form of a GPU trace, writing: two arrays after the header."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from racetrap.golden_model.trace.container.container import write_container
from racetrap.golden_model.trace.gpu.header import header_to_dict

if TYPE_CHECKING:
    from racetrap.golden_model.trace.gpu.trace import Trace

__all__ = ["dump_binary"]


def dump_binary(trace: Trace, file: IO[bytes]) -> None:
    """Write a trace in its binary form; ``ValueError`` if its header is too long for it."""
    write_container(
        file,
        header_to_dict(trace.header),
        (len(trace.events), len(trace.lanes)),
        (trace.events.tobytes(), trace.lanes.tobytes()),
    )
