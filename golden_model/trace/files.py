"""Trace files of either form and system, recognised by their contents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TypeVar

from racetrap.golden_model.trace.container.container import MAGIC, Container, open_container
from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.container.text import open_text
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.golden_model.trace.noncoherent.thesis_text import is_thesis_text, read_thesis_text
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

AnyTrace = Trace | ThreadTrace | NoncoherentTrace
_Trace = TypeVar("_Trace", Trace, ThreadTrace, NoncoherentTrace)
_TYPES: dict[object, type[AnyTrace]] = {
    each.schema.system: each for each in (Trace, ThreadTrace, NoncoherentTrace)
}


def is_binary(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a binary trace (otherwise it is text)."""
    with open(path, "rb") as file:
        return file.read(1) == MAGIC[:1]


def read_trace(path: str | os.PathLike[str]) -> AnyTrace:
    """Read a trace file of either form and check every rule of the format.

    The arrays of a binary trace are mapped from the file, not copied, unless it is compressed.

    Returns
    -------
    Trace, ThreadTrace or NoncoherentTrace
        As the header's ``system`` says.

    Raises
    ------
    OSError
        If the file cannot be read.
    TraceError
        If the file breaks a rule; names the file and the line or record.
    """
    if not is_binary(path) and is_thesis_text(path):
        return read_thesis_text(path)
    file = open_container(Path(path)) if is_binary(path) else open_text(Path(path))
    system = file.header.get("system")
    trace = _TYPES.get(system if isinstance(system, str) else None)
    if trace is None:
        raise _system_error(file.place, " or ".join(map(repr, _TYPES)), system)
    return trace.from_container(file) if isinstance(file, Container) else trace.from_text(file)


def _read(path: str | os.PathLike[str], expected: type[_Trace]) -> _Trace:
    trace = read_trace(path)
    if not isinstance(trace, expected):
        raise _system_error(str(path), repr(expected.schema.system), trace.schema.system)
    return trace


def _system_error(place: str, expected: str, system: object) -> TraceError:
    sentence = f"Trace system must be {expected}, not {system!r}"
    return TraceError(f"{place}, header", Rule.HEADER, sentence)


def read_gpu_trace(path: str | os.PathLike[str]) -> Trace:
    """``read_trace`` for a trace of a GPU; ``TraceError`` if it is one of threads."""
    return _read(path, Trace)


def read_thread_trace(path: str | os.PathLike[str]) -> ThreadTrace:
    """``read_trace`` for a trace of threads; ``TraceError`` if it is one of a GPU."""
    return _read(path, ThreadTrace)


def read_accelerator_trace(path: str | os.PathLike[str]) -> NoncoherentTrace:
    """``read_trace`` for a trace of a CPU and its accelerators; ``TraceError`` for others."""
    return _read(path, NoncoherentTrace)
