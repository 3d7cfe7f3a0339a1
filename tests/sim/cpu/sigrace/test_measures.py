"""What the compiled SigRace measures is what the golden model says of the same run."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from racetrap.golden_model.sigrace.packets import Cause
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.random_run import random_run
from racetrap.sim.cpu.sigrace.compiled_sigrace import Measures, measure_sigrace, run_sigrace
from tests.support.sigrace.measures import GoldenMeasures, golden_measures, measure_case
from tests.support.sigrace.programs import ThreadProgram

SEEDS = range(45)
#: Statistics of what is analysed, which a measured run does not do.
ANALYSED = (
    "conflicts_dropped", "conflicts_ignored", "rollbacks", "passes", "reexecuted", "analysed",
    "repeated_for_nothing", "first_race",
)  # fmt: skip


def check(found: Measures, golden: GoldenMeasures) -> None:
    names = "false_pairs", "false_intersections", "true_pairs", "true_intersections"
    assert {name: getattr(found, name) for name in names} == {
        name: golden.counts[name] for name in names
    }
    counts = found.statistics
    assert counts.hits == golden.counts["hits"]
    assert counts.comparisons == golden.rdm.counters["comparisons"]
    assert counts.lost == golden.rdm.lost
    assert found.lost_windows == pytest.approx(golden.lost_windows, rel=1e-12)
    assert found.message_bytes.tolist() == golden.message_bytes


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(seed: int, form: Form) -> None:
    trace, params, interval = measure_case(seed)
    params = replace(params, form=form)
    found = measure_sigrace(Sigrace(params, checkpoint_interval=interval), trace)
    check(found, golden_measures(trace, params, interval))


def test_random_programs_have_all_that_is_measured() -> None:
    causes: Counter[int] = Counter()
    counts: Counter[str] = Counter()
    for seed in SEEDS:
        golden = golden_measures(*measure_case(seed))
        causes += golden.causes
        counts += golden.counts
        counts["windows"] += golden.lost_windows > 0
    assert min(causes[cause] for cause in Cause if cause) > 20
    assert counts["windows"] > 10
    assert min(counts.values()) > 10
    assert counts["true_intersections"] > counts["true_pairs"]


@pytest.mark.parametrize("name", ["ocean", "streamcluster"])
def test_recorded_programs(name: str) -> None:
    trace = program_trace(name, "tiny", threads=4)
    params = SigraceParams(cores=4, threads=4, block_instructions=500, history_depth=2)
    found = measure_sigrace(Sigrace(params, checkpoint_interval=30_000), trace)
    assert found.statistics.checkpoints
    assert found.lost_windows
    check(found, golden_measures(trace, params, 30_000))


@pytest.mark.parametrize("seed", range(0, 45, 5))
def test_statistics_but_for_what_is_analysed(seed: int) -> None:
    trace, params, interval = measure_case(seed)
    sigrace = Sigrace(params, checkpoint_interval=interval)
    expected = vars(run_sigrace(sigrace, trace).statistics)
    found = vars(measure_sigrace(sigrace, trace).statistics)
    for name in expected:
        if name not in ANALYSED:
            assert found[name] == expected[name], name


@pytest.mark.parametrize("seed", range(8))
def test_blocks_that_end_at_synchronisations_only(seed: int) -> None:
    trace, params, interval = measure_case(seed)
    largest = replace(params, form=Form.HASHED, block_instructions=1 << 20)
    sigrace = Sigrace(
        replace(largest, block_instructions=params.block_instructions), checkpoint_interval=interval
    )
    check(
        measure_sigrace(sigrace, trace, sync_only=True), golden_measures(trace, largest, interval)
    )


def test_program_without_accesses() -> None:
    found = measure_sigrace(Sigrace(SigraceParams()), ThreadProgram(2).trace())
    assert found.statistics.messages == len(found.message_bytes) == 0


def test_too_many_threads() -> None:
    with pytest.raises(ValueError, match="has only 4 contexts"):
        measure_sigrace(Sigrace(SigraceParams(cores=4)), random_run(1, threads=5))
