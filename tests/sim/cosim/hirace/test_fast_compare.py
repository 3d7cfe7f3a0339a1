"""Launches on the hardware agree with the golden model."""

from dataclasses import replace

import pytest

from racetrap.golden_model.gpu.region import Region, bank_of_entry
from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.golden_model.hirace.packets import Transaction, TransactionKind
from racetrap.golden_model.hirace.report import RaceReport
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.hirace.coverage import Coverage
from racetrap.sim.cosim.hirace.fast_compare import check_launch, transactions_of
from racetrap.sim.cosim.hirace.fast_simulation import FastSim
from racetrap.sim.cosim.hirace.random_events import STYLES, random_events
from tests.support.hirace.plans import DEEP_BANKS

_TIMINGS = {
    "fastest": MemoryTiming(),
    "slow": MemoryTiming(idle_percent=40, latency=9, jitter=25, reorder=True, back_pressure=30),
    "errors": MemoryTiming(jitter=5, reorder=True, read_errors=3000, write_errors=3000),
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("timing", _TIMINGS)
def test_hardware_agrees(model, region, traffic, style, timing):
    coverage = Coverage(model.params)
    with FastSim(model, seed=5, timing=_TIMINGS[timing]) as sim:
        for seed, in_order in ((1, False), (2, True), (3, False)):
            result = check_launch(
                sim, model.params, region, traffic(style, seed=seed), in_order=in_order,
                capacity_log2=4, report_filter=seed == 3, observer=coverage,
            )  # fmt: skip
            assert 0 < result.accesses <= result.steps
        assert (sim.stats.read_errors > 0) == (timing == "errors")
    seen = sum(count for name, count in coverage.counts.items() if name.startswith("transition."))
    assert seen > result.accesses


def test_reports_in_the_global_order_are_the_golden_models(model, region):
    params = model.params
    events = list(random_events(params, region, STYLES["mixed"], 4, 400))
    golden = Hirace(params, region)
    steps = [step for event in events for step in golden.run(event)]
    due = [RaceReport.from_step(params, step) for step in steps if step.race]
    with FastSim(model, seed=5) as sim:
        result = check_launch(
            sim, params, region, transactions_of(events, params), in_order=True, capacity_log2=12
        )
    assert result.races == golden.race_count == len(due)
    found = [RaceReport.from_record(record) for record in result.reports]
    assert [replace(report, sequence=0) for report in found] == due[: len(found)]


@pytest.mark.parametrize("size_log2", [12, 34])
def test_regions_of_any_size(model, size_log2):
    region = Region(1 << size_log2, size_log2)
    events = random_events(model.params, region, STYLES["mixed"], 1, 300)
    with FastSim(model, seed=5) as sim:
        result = check_launch(sim, model.params, region, transactions_of(events, model.params))
    assert result.accesses > 100


def _takes_an_access_a_cycle(fast, stride):
    """One bank takes stores to words that lie ``stride`` apart."""
    params, region = fast.params, Region(data_base=1 << 13, size_log2=13, metadata_base=0x8000)
    words = [(region.data_base >> 2) + n * stride for n in range(400)]
    indices = {region.locate(params, 4 * word)[0] for word in words}
    assert {bank_of_entry(params, index) for index in indices} == {0}
    stores = [(0, Transaction(TransactionKind.STORE, word=word)) for word in words]
    with FastSim(fast, seed=5, timing=MemoryTiming(latency=1)) as sim:
        result = check_launch(sim, params, region, stores)
    assert result.accesses == 400
    assert result.cycles <= 410


def test_a_bank_takes_an_access_of_one_word_a_cycle(model):
    """Each takes the result of the one just ahead."""
    _takes_an_access_a_cycle(model, 0)


@pytest.mark.campaign
def test_a_bank_takes_an_access_a_cycle():
    """With as many reads in flight as the memory takes cycles."""
    _takes_an_access_a_cycle(build_fast("hirace-tiny", DEEP_BANKS), DEEP_BANKS.banks)
