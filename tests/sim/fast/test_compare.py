"""Launches on the hardware agree with the golden model, and planted differences are found."""

from collections import Counter
from itertools import pairwise

import pytest

from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord
from racetrap.sim.fast.compare import check_launch
from racetrap.sim.fast.library import Timing
from racetrap.sim.fast.simulation import FastSim
from racetrap.sim.gpu.knobs import KNOBS
from racetrap.sim.gpu.random_events import random_events, transactions_of
from racetrap.sim.scoreboard import Mismatch

_TIMINGS = {
    "fastest": Timing(),
    "slow": Timing(idle_percent=40, latency=9, jitter=25, reorder=True, back_pressure=30),
    "errors": Timing(jitter=5, reorder=True, read_errors=3000, write_errors=3000),
}


@pytest.mark.parametrize("knobs", KNOBS)
@pytest.mark.parametrize("timing", _TIMINGS)
def test_hardware_agrees(model, region, traffic, knobs, timing):
    with FastSim(model, seed=5, timing=_TIMINGS[timing]) as sim:
        for seed, in_order in ((1, False), (2, True), (3, False)):
            result = check_launch(
                sim, model.params, region, traffic(knobs, seed=seed),
                in_order=in_order, capacity_log2=4, report_filter=seed == 3,
            )  # fmt: skip
            assert result.accesses > 0
            assert result.steps >= result.accesses
        assert (sim.stats.read_errors > 0) == (timing == "errors")
        assert (sim.stats.write_errors > 0) == (timing == "errors")


def test_order_gives_the_golden_models_races(model, region, sim):
    events = list(random_events(model.params, region, KNOBS["contended"], 4, 200))
    scord = Scord(model.params, region)
    for event in events:
        scord.run(event)
    transactions = transactions_of(events, model.params)
    result = check_launch(sim, model.params, region, transactions, in_order=True, capacity_log2=10)
    assert [RaceReport.from_record(record).key for record in result.reports] == [
        race.key for race in scord.races
    ]
    assert result.races == len(scord.races) > 10


def _swap(steps):
    """Two neighbours of one block change places; those of different SMs may."""
    n = next(
        n
        for n, (one, other) in enumerate(pairwise(steps))
        if one.packet.block == other.packet.block and one.packet != other.packet
    )
    return [*steps[:n], steps[n + 1], steps[n], *steps[n + 2 :]]


_PLANTED = {
    "step changed": ("steps", lambda steps: [*steps[:9], steps[9]._replace(after=0), *steps[10:]]),
    "step lost": ("steps", lambda steps: steps[:-1]),
    "step twice": ("steps", lambda steps: [*steps, steps[-1]]),
    "steps swapped": ("steps", _swap),
    "report changed": ("reports", lambda records: [records[0] ^ 1 << 3, *records[1:]]),
    "report lost": ("reports", lambda records: records[1:]),
    "reports swapped": ("reports", lambda records: [records[1], records[0], *records[2:]]),
    "entry changed": ("entry", lambda entry: entry ^ 1),
    "access not counted": ("counters", lambda counters: counters | {"accesses": 1}),
    "race not counted": ("counters", lambda counters: counters | {"races_not_strong": 99_999}),
}


@pytest.mark.parametrize("what", _PLANTED)
def test_planted_difference_is_found(model, region, sim, traffic, monkeypatch, what):
    name, change = _PLANTED[what]
    original = getattr(FastSim, name)
    monkeypatch.setattr(FastSim, name, lambda self, *arguments: change(original(self, *arguments)))
    with pytest.raises(Mismatch):
        check_launch(sim, model.params, region, traffic("contended"), capacity_log2=10)


def test_same_seed_same_cycles(model, region, traffic):
    def run():
        with FastSim(model, seed=11, timing=_TIMINGS["slow"]) as sim:
            check_launch(sim, model.params, region, traffic())
            return sim.stats.cycles

    assert run() == run()


def test_observer_sees_everything(model, region, sim, traffic):
    seen = Counter()

    class Observer:
        def transaction(self, sm, transaction, before, after, packets):
            seen["transactions"] += 1
            seen["changed"] += before != after

        def step(self, bank, step):
            seen["steps"] += 1

        def report(self, report):
            seen["reports"] += 1

    transactions = traffic("locks")
    result = check_launch(
        sim, model.params, region, transactions, capacity_log2=10, observer=Observer()
    )
    assert seen["transactions"] == len(transactions)
    assert seen["changed"] > 0
    assert seen["steps"] == result.steps
    assert seen["reports"] == len(result.reports) > 0
