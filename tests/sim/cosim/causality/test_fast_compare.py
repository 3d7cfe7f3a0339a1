"""Launches on the hardware agree with the golden model."""

from dataclasses import replace
from random import Random

import pytest

from racetrap.evaluation.campaign import gpu_volume
from racetrap.evaluation.causality import campaign
from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.report import RaceReport
from racetrap.golden_model.events import DataRegion, Geometry, TraceHeader
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.causality.coverage import Coverage
from racetrap.sim.cosim.causality.fast_compare import check_launch, transactions_of
from racetrap.sim.cosim.causality.fast_simulation import FastSim
from racetrap.sim.cosim.causality.random_events import random_events
from racetrap.sim.cosim.causality.styles import STYLES
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.verdict.causality.findings import find_races
from racetrap.verdict.causality.hardware import simulate_trace
from tests.support.causality.plans import REGION, TWO_BANKS

_TIMINGS = {
    "fastest": MemoryTiming(),
    "slow": MemoryTiming(idle_percent=40, latency=9, jitter=25, reorder=True, back_pressure=30),
    "errors": MemoryTiming(jitter=5, reorder=True, read_errors=3000, write_errors=3000),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("timing", _TIMINGS)
def test_hardware_agrees(model, traffic, style, timing):
    coverage = Coverage(model.params)
    with FastSim(model, seed=5, timing=_TIMINGS[timing]) as sim:
        for seed in (1, 2):
            result = check_launch(
                sim, model.params, REGION, traffic(style, seed=seed), capacity_log2=4,
                report_filter=seed == 2, observer=coverage,
            )  # fmt: skip
            assert 0 < result.accesses <= result.steps
        assert (sim.stats.read_errors > 0) == (timing == "errors")
    assert coverage.counts["transaction.block_start"] >= 2


def _trace(style, seed, instructions):
    geometry = Geometry(TWO_BANKS.sm_count, TWO_BANKS.blocks_per_sm, TWO_BANKS.warps_per_sm)
    header = TraceHeader(
        geometry=geometry, region=DataRegion(REGION.data_base, REGION.size_log2),
        independent_threads=1,
    )  # fmt: skip
    events = random_events(TWO_BANKS, REGION, STYLES[style], seed, instructions)
    return Trace.from_events(header, list(events))


@pytest.mark.parametrize("style", ["mixed", "flags", "fence-order"])
def test_races_of_a_trace_are_those_of_the_verdict(model, style):
    trace, found = _trace(style, 4, 200), []
    run = simulate_trace(model, trace, 7, found.append)
    due = [finding.report for finding in find_races(trace, model.params)[1]]
    assert [finding.report for finding in found] == due
    assert len(due) > 10
    assert run.steps < run.cycles


def test_reports_in_the_global_order_are_the_golden_models(model):
    events = list(random_events(TWO_BANKS, REGION, STYLES["mixed"], 4, 300))
    golden = Causality(TWO_BANKS, REGION)
    for event in events:
        golden.run(event)
    with FastSim(model, seed=5) as sim:
        result = check_launch(
            sim, TWO_BANKS, REGION, transactions_of(events, TWO_BANKS), in_order=True,
            capacity_log2=12,
        )  # fmt: skip
    assert result.races == golden.race_count == len(golden.races) > 50
    found = [RaceReport.from_record(record) for record in result.reports]
    due = [replace(report, sequence=0) for report in golden.races]
    assert [replace(report, sequence=0) for report in found] == due[: len(found)]


@pytest.mark.parametrize("size_log2", [12, 34])
def test_regions_of_any_size(model, size_log2):
    region = Region(1 << size_log2, size_log2)
    events = random_events(TWO_BANKS, region, STYLES["mixed"], 1, 150)
    with FastSim(model, seed=5) as sim:
        result = check_launch(sim, TWO_BANKS, region, transactions_of(events, TWO_BANKS))
    assert result.accesses > 100


def test_cases_of_the_random_campaign(model, monkeypatch):
    monkeypatch.setattr(gpu_volume, "ACCESSES", (1_200, 600))
    monkeypatch.setattr(gpu_volume, "AMID_ACCESSES", 200)
    coverage = Coverage(model.params)
    for number in (0, 4):
        for compared in campaign.play(model, number, Random(f"test {number}"), coverage):
            assert [
                name for name in campaign.RANDOM_VOLUME.figures if not hasattr(compared, name)
            ] == []
            assert 0 < compared.races < compared.accesses
    assert coverage.counts["launch"] > 4
