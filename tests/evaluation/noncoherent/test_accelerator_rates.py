"""Rates with accelerators: measured on traces and programs that are what they should be."""

from racetrap.evaluation.noncoherent.accelerator_rates import (
    ANALYSES,
    buffers_trace,
    measure_analysis,
    recorder_rate,
)
from racetrap.golden_model.noncoherent.noncoherent import MODES, Noncoherent
from racetrap.sim.accelerator.compiled.detector import run_compiled


def test_trace_is_long_and_has_no_race():
    trace = buffers_trace(5000, 16)
    assert len(trace) == 5000
    for mode in MODES:
        assert run_compiled(Noncoherent(trace.header.memory, mode), trace.events).races == []


def test_runs_follow_the_buffers_not_the_length():
    short, long = (measure_analysis(length, "strict", 16) for length in (20_000, 60_000))
    assert 0 < short.runs < 1000
    assert long.runs < 1.2 * short.runs
    assert min(short.read, short.check, long.read, long.check) > 0


def test_what_the_bench_measures():
    assert max(operations for operations, _, _ in ANALYSES) == 50_000_000
    assert {mode for _, mode, _ in ANALYSES} == set(MODES)


def test_recorder():
    rate = recorder_rate(16, passes=3, runs=2)
    assert 0 < rate.low <= rate.median <= rate.high
