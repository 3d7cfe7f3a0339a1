"""Proof that the NumPy engine is SigRace: its whole result is the golden model's, counts included.

``test_blocks`` proves the same of the blocks, ``test_figures`` of searches and intersections.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from racetrap.evaluation.sigrace.detection import detect
from racetrap.evaluation.sigrace.execution import Execution
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.program_traces import program_trace
from tests.support.sigrace.engine import engine_case


@pytest.mark.parametrize("seed", range(60))
def test_random_runs(seed: int) -> None:
    trace, params, interval = engine_case(seed)
    unbounded = seed % 7 == 0
    golden = Sigrace(params, checkpoint_interval=interval, unbounded=unbounded).run(trace)
    assert detect(Execution(trace, interval), params, unbounded) == golden


def test_random_runs_have_all_that_matters() -> None:
    results = [detect(Execution(case.trace, case.interval), case.params)
               for case in map(engine_case, range(60))]  # fmt: skip
    assert sum(len(result.races) for result in results) > 500
    assert sum(result.false_positives for result in results) > 50
    assert sum(result.statistics.conflicts_dropped for result in results) > 50
    reasons = {reason for result in results for reason in result.statistics.rollbacks}
    assert reasons == {"full", "blocks", "sync", "checkpoint", "end"}


def test_counters_too_short_are_refused_as_by_the_golden_model() -> None:
    trace, params, interval = engine_case(1)
    bits = next(
        bits for bits in range(params.timestamp_bits, 0, -1)
        if not _runs(trace, replace(params, timestamp_bits=bits), interval)
    )  # fmt: skip
    with pytest.raises(ValueError, match=f"timestamp_bits must be at least {bits + 1} for"):
        detect(Execution(trace, interval), replace(params, timestamp_bits=bits))
    detect(Execution(trace, interval), replace(params, timestamp_bits=bits + 1))


def _runs(trace: ThreadTrace, params: SigraceParams, interval: int) -> bool:
    try:
        Sigrace(params, checkpoint_interval=interval).run(trace)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("unbounded", [False, True])
@pytest.mark.parametrize("form", ["sets", "hashed"])
@pytest.mark.parametrize("name", ["ocean", "cholesky", "streamcluster"])
def test_recorded_programs(name: str, form: str, unbounded: bool) -> None:
    trace = program_trace(name, "tiny", threads=4)
    params = SigraceParams(cores=4, threads=4, form=form, history_depth=8)
    golden = Sigrace(params, checkpoint_interval=30_000, unbounded=unbounded).run(trace)
    assert golden.races
    assert golden.conflicts
    assert golden.statistics.checkpoints
    assert detect(Execution(trace, 30_000), params, unbounded) == golden
