"""Trace files: events of a run, in a binary form and a text form."""

from racetrap.golden_model.trace.container.rules import Rule, TraceError
from racetrap.golden_model.trace.files import (
    AnyTrace,
    is_binary,
    read_accelerator_trace,
    read_gpu_trace,
    read_thread_trace,
    read_trace,
)
from racetrap.golden_model.trace.gpu.trace import Trace
from racetrap.golden_model.trace.noncoherent.noncoherent_trace import NoncoherentTrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace

__all__ = [
    "AnyTrace",
    "NoncoherentTrace",
    "Rule",
    "ThreadTrace",
    "Trace",
    "TraceError",
    "is_binary",
    "read_accelerator_trace",
    "read_gpu_trace",
    "read_thread_trace",
    "read_trace",
]
