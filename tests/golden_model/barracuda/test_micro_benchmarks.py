"""The ScoR micro-benchmarks' verdicts, over several schedules together."""

import pytest

from racetrap.golden_model.barracuda import ScopedOracle
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import VARIABLES
from racetrap.sim.gpu.suites.micro.scheduler import (
    FIXED_SCHEDULES,
    BlockPlacement,
    in_order,
    random_schedule,
    run_program,
)
from tests.support.oracle.random_traces import HEADER

#: Order in a lucky schedule comes from the lock's other owner, who has all fences: the missing
#: fence shows only if the warp without it comes second.
NEEDS_MORE_SCHEDULES = {
    "race_interblock_lock-blkfence_waw",
    "race_interblock_lock-no-stf_waw",
    "race_interblock_none-lock_rtraw",
    "race_interwarp_blklock-no-stf_waw",
    "race_interwarp_dev-blklock-no-stf_waw",
}


def _hits(name: str) -> list[bool]:
    """For each schedule whether there is a race; at the shared data, if the program is racy."""
    benchmark = MICRO_BENCHMARKS[name]
    schedules = [*FIXED_SCHEDULES.values(), *map(random_schedule, range(20))]
    hits = []
    for schedule in schedules:
        events = run_program(benchmark, schedule, BlockPlacement.OTHER_SMS)
        races = ScopedOracle().run(Trace.from_events(HEADER, events))
        addresses = {race.address for race in races}
        hits.append(VARIABLES["data"] in addresses if benchmark.racy else bool(addresses))
    return hits


@pytest.mark.parametrize("name", MICRO_BENCHMARKS)
def test_verdict_over_all_schedules(name):
    hits = _hits(name)
    assert any(hits) == MICRO_BENCHMARKS[name].racy
    assert (any(hits) and not all(hits)) == (name in NEEDS_MORE_SCHEDULES)


def test_there_are_18_racy_and_14_race_free():
    racy = [benchmark.racy for benchmark in MICRO_BENCHMARKS.values()]
    assert (sum(racy), len(racy)) == (18, 32)


def test_placement_does_not_matter():
    for benchmark in MICRO_BENCHMARKS.values():
        keys = [
            {
                race.key
                for race in ScopedOracle().run(
                    Trace.from_events(HEADER, run_program(benchmark, in_order, placement))
                )
            }
            for placement in BlockPlacement
        ]
        assert keys[0] == keys[1]
