"""Trace files: events of a GPU run, in a binary form for machines and a text form for people."""

from racetrap.golden_model.trace.files import is_binary, read_trace
from racetrap.golden_model.trace.records import Rule, TraceError
from racetrap.golden_model.trace.text_writer import dump_text
from racetrap.golden_model.trace.trace import Trace

__all__ = ["Rule", "Trace", "TraceError", "dump_text", "is_binary", "read_trace"]
