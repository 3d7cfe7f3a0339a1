"""Trace files: events of a run, in a binary form for machines and a text form for people."""

from racetrap.golden_model.threads.thread_trace import ThreadTrace
from racetrap.golden_model.trace.files import (
    is_binary,
    read_gpu_trace,
    read_thread_trace,
    read_trace,
    text_of,
)
from racetrap.golden_model.trace.trace import Trace
from racetrap.golden_model.trace_file.rules import Rule, TraceError

__all__ = [
    "Rule",
    "ThreadTrace",
    "Trace",
    "TraceError",
    "is_binary",
    "read_gpu_trace",
    "read_thread_trace",
    "read_trace",
    "text_of",
]
