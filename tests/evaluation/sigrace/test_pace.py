"""Cores at their own pace, and their table."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from racetrap.evaluation.sigrace.campaign import play
from racetrap.evaluation.sigrace.pace import Pace, measure_pace
from racetrap.evaluation.sigrace.pace_table import pace_table
from racetrap.generators.sigrace import SIGRACE
from racetrap.sim.cosim.fast.build import build_fast
from tests.support.sigrace.results import result
from tests.support.threads.random_traces import random_thread_trace


def test_a_program(sigrace_tiny):
    trace = random_thread_trace(1, 2, events=400, addresses=24)
    pace = measure_pace(sigrace_tiny, trace, 1)
    assert (pace.scanners, pace.decompressors) == (1, 1)
    assert pace.messages > 20
    # A message takes the cycles of its three flits at least.
    assert pace.message_cycles > 3
    assert pace.cycles > int(trace.events["instructions"].sum()) // 2
    # A message every 4,000 cycles never waits.
    assert 0 == pace.rdm_stalls < pace.core_stalls
    assert pace.search_cycles > 3
    assert pace.decompression_cycles > 3
    assert pace.idle_cycles >= 0


def test_totals_are_of_each_machine():
    one = Pace(1, 1, 11, 50.0, 30.0, 8.0, 12.0, 900, 70, 7)
    other = Pace(7, 2, 11, 20.0, 4.0, 6.0, 10.0, 800, 30, 3)
    results = [
        result("fft", pace=(one, other)),
        result("lu", pace=(replace(one, messages=31, message_cycles=10.0), other)),
        result("own.trace", pace=()),
    ]
    rows = [tuple(row.values()) for row in pace_table(results).to_json()]
    assert [row[0] for row in rows] == ["fft", "fft", "lu", "lu", "Total", "Total"]
    assert rows[4] == ("Total", 1, 1, 42, 20.0, 30.0, 8.0, 12.0, 1800, 140, 14)
    assert rows[5] == ("Total", 7, 2, 22, 20.0, 4.0, 6.0, 10.0, 1600, 60, 6)


@pytest.mark.campaign
@pytest.mark.parametrize(("scanners", "decompressors"), [(2, 1), (3, 2)])
def test_random_volume_with_several_scanners(scanners, decompressors):
    """Everything is compared while cores, links and software do what they like."""
    params = replace(
        SIGRACE.presets["sigrace-tiny"].params, scanners=scanners, decompressors=decompressors
    )
    model = build_fast("sigrace-tiny", params)
    steps = sum(
        run.rdm_steps
        for case in range(4)
        for run in play(model, case, Random(f"scanners {scanners} {case}"), None)
    )
    assert steps > 4000
