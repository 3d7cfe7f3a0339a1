"""The accesses that findings name agree with the reports, in random runs of every kind."""

from dataclasses import asdict

import pytest

from racetrap.golden_model.events import DataRegion, EventKind, Geometry, TraceHeader
from racetrap.golden_model.gpu.region import Region, bank_of
from racetrap.golden_model.scord.packets import PacketKind, Step
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.scord import Scord
from racetrap.golden_model.trace import Trace
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.scord import fast_compare
from racetrap.sim.cosim.scord.fast_simulation import FastSim
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events
from racetrap.verdict.gpu.findings import reports_of
from racetrap.verdict.gpu.fit import region_of
from racetrap.verdict.scord.detect import detect
from racetrap.verdict.scord.findings import find_races, steps_of_event
from racetrap.verdict.scord.hardware import simulate_trace

_REGION = Region(0x10000, 12)


def _trace(params, *runs):
    """A trace of random kernels: knobs, seed and instructions of each."""
    header = TraceHeader(
        geometry=Geometry(params.sm_count, params.blocks_per_sm, params.warps_per_sm),
        region=DataRegion(_REGION.data_base, _REGION.size_log2),
    )
    events = [event for run in runs for event in _events(params, *run)]
    return Trace.from_events(header, events)


def _events(params, knobs, seed, instructions):
    return random_events(params, _REGION, KNOBS[knobs], seed=seed, instructions=instructions)


def _owner(finding, params):
    """The earlier party as the hardware's report names it."""
    return params.block_id(finding.earlier.sm, finding.earlier.slot), finding.earlier.warp


@pytest.mark.parametrize("knobs", sorted(KNOBS))
@pytest.mark.parametrize("changes", [{}, {"banks": 2, "granularity": 8}], ids=["plain", "banks"])
def test_both_parties_are_those_of_the_report(knobs, changes):
    params = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4, ratio=4, **changes)
    trace = _trace(params, (knobs, 5, 800))
    events = list(trace)
    scord, found = find_races(trace, params, _REGION)
    findings = list(found)
    assert [finding.report.sequence for finding in findings] == list(range(scord.race_count))
    assert scord.races == []
    for finding in findings:
        report, access = finding.report, finding.access
        assert (report.block, report.warp) == (params.block_id(access.sm, access.slot), access.warp)
        assert (report.owner_block, report.owner_warp) == _owner(finding, params)
        assert (report.pc, PacketKind(report.kind).name.lower()) == (access.pc, access.kind)
        assert (finding.earlier.kind == "atomic") == bool(report.owner_is_atom)
        assert finding.earlier.event <= access.event
        assert events[finding.earlier.event].pc == finding.earlier.pc
        assert asdict(access)["event"] == access.event
    # Runs that only stream may be free of races.
    assert findings or knobs == "streaming"


def test_reports_are_the_unique_races_of_the_detector():
    params = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4, ratio=4)
    trace = _trace(params, ("contended", 1, 300))
    _, found = find_races(trace, params, region_of(trace))
    assert set(reports_of(found)) == detect(trace, params) != set()


def test_metadata_from_before_a_launch_is_forgotten():
    params = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4)
    once = ("contended", 1, 300)
    events = len(_trace(params, once))
    findings = list(find_races(_trace(params, once, once), params, _REGION)[1])
    second = [f for f in findings if f.access.event >= events]
    assert len(second) * 2 == len(findings) > 0
    for finding in second:
        assert finding.earlier.event >= events


@pytest.mark.parametrize("knobs", sorted(KNOBS))
def test_hardware_finds_what_the_golden_model_does(scord_tiny, knobs):
    trace = _trace(scord_tiny.params, (knobs, 1, 200), (knobs, 2, 200))
    simulated_findings = []
    simulated = simulate_trace(scord_tiny, trace, 1, simulated_findings.append)
    scord, found = find_races(trace, scord_tiny.params, region_of(trace))
    findings = list(found)
    assert simulated_findings == findings
    assert simulated.steps >= scord.counters["accesses"]
    assert findings or knobs == "streaming"


def test_the_golden_model_runs_once(scord_tiny, monkeypatch):
    """The compiled scoreboard takes each step, and no other golden model is made."""
    trace = _trace(scord_tiny.params, ("mixed", 1, 200))
    taken = []
    real = fast_compare.CompiledScoreboard.take

    def take(self, bank, words):
        taken.append(len(words))
        return real(self, bank, words)

    monkeypatch.setattr(fast_compare.CompiledScoreboard, "take", take)
    monkeypatch.setattr(fast_compare, "Scoreboard", lambda *_: pytest.fail("a second model"))
    simulated = simulate_trace(scord_tiny, trace, 1, lambda finding: None)
    assert sum(taken) == simulated.steps > 0


@pytest.mark.parametrize("changes", [{}, {"banks": 4}, {"banks": 2, "granularity": 16}])
def test_steps_of_an_event_are_taken_from_their_banks(changes):
    params = ScordParams(sm_count=2, blocks_per_sm=2, warps_per_sm=4, **changes)
    events = list(_events(params, "atomics", 3, 300))
    scord = Scord(params, _REGION)
    steps = [scord.run(event) for event in events]
    banks: list[list[Step]] = [[] for _ in range(params.banks)]
    for step in (step for found in steps for step in found if step.packet.kind != PacketKind.FENCE):
        banks[bank_of(params, step.packet.word)].append(step)
    # Fences go to every bank; here they have steps of their own order.
    without = [e for e in events if e.kind != EventKind.FENCE]
    queues = [iter(bank) for bank in banks]
    found = [steps_of_event(event, params, queues) for event in without]
    assert found == [s for e, s in zip(events, steps, strict=True) if e.kind != EventKind.FENCE]
    assert [next(queue, None) for queue in queues] == [None] * params.banks
    fence = next(event for event in events if event.kind == EventKind.FENCE)
    assert steps_of_event(fence, params, [iter("ab") for _ in banks]) == ["a"] * params.banks


def test_a_difference_stops_the_simulation(scord_tiny, monkeypatch):
    trace = _trace(scord_tiny.params, ("contended", 1, 200))
    real = FastSim.step_words

    def flipped(self, bank):
        words = real(self, bank).copy()
        words[5, 0] ^= 1
        return words

    monkeypatch.setattr(FastSim, "step_words", flipped)
    with pytest.raises(Mismatch):
        simulate_trace(scord_tiny, trace, 1, lambda finding: None)
