"""Trace files in either form and for either detector, told apart by what they say themselves."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from racetrap.golden_model.trace.container.container import MAGIC, open_container
from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.container.text import open_text
from racetrap.golden_model.trace.gpu.binary_reader import load_binary
from racetrap.golden_model.trace.gpu.text_reader import load_text
from racetrap.golden_model.trace.gpu.text_writer import dump_text
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.golden_model.trace.threads.binary_reader import load_binary as load_thread_binary
from racetrap.golden_model.trace.threads.text_reader import load_text as load_thread_text
from racetrap.golden_model.trace.threads.text_writer import dump_text as dump_thread_text
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

__all__ = ["is_binary", "read_gpu_trace", "read_thread_trace", "read_trace", "text_of"]

_GPU, _THREADS = "scord", "sigrace"


def is_binary(path: str | os.PathLike[str]) -> bool:
    """Whether a file is meant as a binary trace (if not, it is text)."""
    with open(path, "rb") as file:
        return file.read(1) == MAGIC[:1]


def _is_of_threads(header: dict[str, Any], place: str) -> bool:
    """Whether the header's system is that of threads, not of a GPU."""
    system = header.get("system")
    if system not in (_GPU, _THREADS):
        raise TraceError(
            f"{place}, header", Rule.HEADER,
            f"Trace system must be '{_GPU}' or '{_THREADS}', not {system!r}",
        )  # fmt: skip
    return bool(system == _THREADS)


def read_trace(path: str | os.PathLike[str]) -> Trace | ThreadTrace:
    """Read a trace file of either form and check every rule of the format.

    The arrays of a binary trace are mapped from the file, not copied, unless it is compressed.

    Returns
    -------
    Trace or ThreadTrace
        As the header's ``system`` says.

    Raises
    ------
    OSError
        If the file cannot be read.
    TraceError
        If the file breaks a rule; names the file and the line or record.
    """
    if is_binary(path):
        container = open_container(Path(path))
        if _is_of_threads(container.header, container.place):
            return load_thread_binary(container)
        return load_binary(container)
    text = open_text(Path(path))
    if _is_of_threads(text.header, text.place):
        return load_thread_text(text)
    return load_text(text)


def _system_error(path: str | os.PathLike[str], expected: str, found: str) -> TraceError:
    return TraceError(
        f"{path}, header", Rule.HEADER, f"Trace system must be '{expected}', not '{found}'"
    )


def read_gpu_trace(path: str | os.PathLike[str]) -> Trace:
    """``read_trace`` for a trace of a GPU; ``TraceError`` if it is one of threads."""
    trace = read_trace(path)
    if not isinstance(trace, Trace):
        raise _system_error(path, _GPU, _THREADS)
    return trace


def read_thread_trace(path: str | os.PathLike[str]) -> ThreadTrace:
    """``read_trace`` for a trace of threads; ``TraceError`` if it is one of a GPU."""
    trace = read_trace(path)
    if not isinstance(trace, ThreadTrace):
        raise _system_error(path, _THREADS, _GPU)
    return trace


def text_of(trace: Trace | ThreadTrace) -> str:
    """The text form of a trace."""
    text = io.StringIO()
    if isinstance(trace, ThreadTrace):
        dump_thread_text(trace, text)
    else:
        dump_text(trace, text)
    return text.getvalue()
