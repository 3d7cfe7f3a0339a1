"""Causality in the commands that run hardware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from racetrap.commands.shared.detectors.gpu_trace import simulate
from racetrap.commands.shared.settings import PlainRun
from racetrap.commands.shared.simulation import Simulation, Suite
from racetrap.commands.shared.terminal import input_errors
from racetrap.golden_model.trace import Trace
from racetrap.verdict.gpu.fit import check_fit_with_window, region_with_window

#: Options and forms of `simulate` that apply to a trace, but not to every stimulus.
TRACE_OPTIONS = ("choice", "all_signals", "output", ".fst", ".vcd")
RUN = PlainRun()
SUITES: Mapping[str, Suite] = MappingProxyType({})


def simulate_trace(call: Simulation, path: str, trace: Trace) -> tuple[int, dict[str, Any]]:
    """Play a trace on hardware whose lanes are scheduled as in the trace, and print its races;
    return their number and the JSON document."""
    from racetrap.verdict.causality.hardware import simulate_trace

    lanes = bool(trace.header.independent_threads)
    call = replace(call, params=call.params.with_lanes(lanes))
    with input_errors(path):
        check_fit_with_window(trace, call.params)
    return simulate(call, path, trace, region_with_window(trace, call.params), simulate_trace)
