"""Compiled rules of traces of threads: a trace that obeys them skips the check in Python.

:func:`racetrap.golden_model.trace.threads.rules.rule_violations` is the specification, and names
the rule that a trace breaks.
"""

from __future__ import annotations

from ctypes import CDLL, c_bool, c_uint32, c_uint64, c_void_p
from functools import cache
from pathlib import Path

import numpy as np

from racetrap.golden_model.trace.threads.events import ThreadTraceHeader
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.compiled_library import Functions, compiled_library
from racetrap.sim.cpu.thread_twins import THREAD_TWINS

_SOURCE = Path(__file__).with_suffix(".cpp")
_HEADER = _SOURCE.with_name("thread_events.h")
_OPTIONS = ("-std=c++20", "-O3")
_FUNCTIONS: Functions = {"racetrap_rules_hold": (c_bool, [c_void_p, c_uint64, c_uint32])}


@cache
def prepare_rules() -> CDLL:
    """The compiled rules, compiled and loaded on the first call."""
    return compiled_library("trace_rules", [_SOURCE, _HEADER], _OPTIONS, _FUNCTIONS, THREAD_TWINS)


def rules_hold(header: ThreadTraceHeader, events: np.ndarray) -> bool:
    """Whether events obey all rules; ``events`` are contiguous records of ``THREAD_DTYPE``.

    Raises
    ------
    Failure
        If the rules cannot be compiled.
    """
    library = prepare_rules()
    return bool(library.racetrap_rules_hold(events.ctypes.data, len(events), header.threads))


def checked_trace(header: ThreadTraceHeader, events: np.ndarray) -> ThreadTrace:
    """Trace of contiguous records.

    Raises
    ------
    TraceError
        If they break a rule.
    Failure
        If the rules cannot be compiled.
    """
    if rules_hold(header, events):
        return ThreadTrace.of_checked(header, events)
    return ThreadTrace(header, events)
