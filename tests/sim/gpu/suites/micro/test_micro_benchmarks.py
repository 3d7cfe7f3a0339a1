"""The ScoR micro-benchmarks on the golden model."""

from collections import Counter

import pytest

from racetrap.golden_model.events import DataRegion, Geometry, TraceHeader
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS
from racetrap.sim.gpu.suites.micro.program import program_region
from racetrap.sim.gpu.suites.micro.scheduler import (
    FIXED_SCHEDULES,
    BlockPlacement,
    random_schedule,
    run_program,
)

BENCHMARKS = pytest.mark.parametrize("benchmark", MICRO_BENCHMARKS.values(), ids=MICRO_BENCHMARKS)
TINY = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4, ratio=4)


def schedules(count):
    yield from FIXED_SCHEDULES.items()
    for seed in range(count):
        yield f"random {seed}", random_schedule(seed)


def races_of(events, params):
    scord = Scord(params, program_region())
    for event in events:
        scord.run(event)
    return scord.races


def test_suite_is_complete():
    assert len(MICRO_BENCHMARKS) == 32
    verdicts = Counter(benchmark.racy for benchmark in MICRO_BENCHMARKS.values())
    assert verdicts == {False: 14, True: 18}
    for name, benchmark in MICRO_BENCHMARKS.items():
        assert name == benchmark.name
        assert name.startswith("race_" if benchmark.racy else "norace_")


@BENCHMARKS
@pytest.mark.parametrize("placement", BlockPlacement)
@pytest.mark.parametrize("params", [ScordParams(), TINY], ids=["default", "tiny"])
def test_verdict(benchmark, placement, params):
    for name, schedule in schedules(10):
        races = races_of(run_program(benchmark, schedule, placement), params)
        assert benchmark.is_right(races), (name, [race.sentence() for race in races])


@BENCHMARKS
def test_every_acceptable_kind_occurs(benchmark):
    """A kind that no schedule gives would be a hole in the verdict."""
    kinds = set()
    for _, schedule in schedules(40):
        events = run_program(benchmark, schedule, BlockPlacement.OTHER_SMS)
        kinds |= {race.race for race in races_of(events, TINY)}
    assert kinds == benchmark.kinds


@BENCHMARKS
@pytest.mark.parametrize("placement", BlockPlacement)
def test_trace_is_legal_and_statements_have_pcs_of_their_own(benchmark, placement):
    region = program_region()
    header = TraceHeader(
        geometry=Geometry(2, 2, 4), region=DataRegion(region.data_base, region.size_log2)
    )
    events = run_program(benchmark, random_schedule(3), placement)
    trace = Trace.from_events(header, events)
    assert list(trace) == events
    pcs = {event.pc for event in events if event.pc}
    assert len(pcs) == sum(len(actor.statements) for actor in benchmark.actors)


def test_a_missed_and_a_false_race_are_wrong():
    racy = MICRO_BENCHMARKS["race_interblock_blkatom"]
    clean = MICRO_BENCHMARKS["norace_interblock_atom"]
    races = races_of(run_program(racy, FIXED_SCHEDULES["in-order"], BlockPlacement.SAME_SM), TINY)
    assert not racy.is_right([])
    assert not clean.is_right(races)
    assert not MICRO_BENCHMARKS["race_interwarp_none-atom_waw"].is_right(races)
