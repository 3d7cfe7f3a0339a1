"""Random runs: nothing reported that is no race, and nothing missed that can be found.

``brute_force_races`` finds races by reachability in the graph of all events.
"""

import random

import pytest

from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.sigrace.environment import Environment
from racetrap.golden_model.sigrace.missed import RaceOutcome, race_outcomes
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.events import ThreadEventKind, epoch_steps
from tests.support.threads.brute_force import brute_force_races
from tests.support.threads.random_traces import random_thread_trace

_K = ThreadEventKind


def plain_races(trace):
    """Races between plain accesses: what SigRace is to find."""
    return {race for race, (_, is_plain) in brute_force_races(trace).items() if is_plain}


def configuration(rng, threads):
    """A random configuration and an environment that fits it."""
    environment = rng.choice(["fixed", "migration", "multiplex", "multithreaded"])
    contexts = rng.randint(1, 2) if environment != "multiplex" else 1
    is_roomy = environment in ("fixed", "migration")
    params = SigraceParams(
        cores=-(-threads // contexts) if is_roomy else rng.randint(1, 3),
        contexts=contexts,
        threads=threads + rng.randint(0, 1),
        form=rng.choice(["sets", "hashed"]),
        lsb_bits=rng.choice([8, 10]),
        filters=rng.choice([2, 4]),
        filter_bits=rng.choice([16, 64]),
        one_hot_lsb=rng.random() < 0.3,
        usb_limit=rng.randint(1, 4),
        block_instructions=rng.randint(1, 60),
        history_depth=rng.randint(1, 6),
        log_depth=rng.randint(1, 4),
        log_blocks=rng.randint(1, 4),
        sequence_bits=rng.randint(2, 8),
    )
    return params, Environment(environment, quantum=rng.randint(20, 200), seed=rng.randint(0, 99))


@pytest.mark.parametrize("seed", range(60))
def test_every_reported_race_is_real(seed):
    rng = random.Random(f"real {seed}")
    threads = rng.randint(2, 5)
    trace = random_thread_trace(seed, threads, events=rng.randint(50, 400))
    params, environment = configuration(rng, threads)
    found = Sigrace(params, environment, checkpoint_interval=rng.choice([60, 300, 10**6])).run(
        trace
    )
    assert set(found.races) <= plain_races(trace)
    statistics = found.statistics
    assert statistics.messages == statistics.blocks
    assert statistics.instructions == int(trace.events["instructions"].sum())
    assert found.false_positives + statistics.conflicts_dropped <= found.conflicts


@pytest.mark.parametrize("seed", [*range(60), 355, 498, 652, 1286])
def test_ideal_finds_every_plain_race(seed):
    """Without a checkpoint in between, in every environment and with any signatures.

    In the last four a conflict has addresses of several earlier ones of its epochs, each of which
    was analysed by itself.
    """
    rng = random.Random(f"ideal {seed}")
    threads = rng.randint(2, 5)
    trace = random_thread_trace(seed, threads, events=rng.randint(50, 400))
    params, environment = configuration(rng, threads)
    found = Sigrace(params, environment, checkpoint_interval=10**9, unbounded=True).run(trace)
    assert set(found.races) == plain_races(trace)
    assert found.statistics.lost == {}


def instances(trace, interval):
    """For each party and granule, the checkpoint intervals in which it makes its access."""
    committed, number, places, epochs = {}, 0, {}, {}
    for event in trace:
        thread = event.thread
        if max(committed.values(), default=0) >= interval:
            committed.clear()
            number += 1
        committed[thread] = committed.get(thread, 0) + event.instructions
        epoch = epochs.get(thread, 0)
        if event.kind in (_K.LOAD, _K.STORE):
            for granule in range(event.address // 4, (event.address + event.size - 1) // 4 + 1):
                party = thread, epoch, event.pc, event.kind == _K.STORE
                places.setdefault((party, granule * 4), set()).add(number)
        epochs[thread] = epoch + epoch_steps(event.kind, event.value, thread)
    return places


@pytest.mark.parametrize("seed", range(30))
def test_ideal_finds_every_race_within_a_checkpoint_interval(seed):
    rng = random.Random(f"checkpoints {seed}")
    trace = random_thread_trace(seed, 4, events=300)
    interval = rng.randint(20, 200)
    found = Sigrace(SigraceParams(cores=4, threads=4), Environment("fixed"), interval, True)
    result, races = found.run(trace), plain_races(trace)
    places = instances(trace, interval)
    within = {
        race
        for race in races
        if places[race.first, race.address] & places[race.second, race.address]
    }
    assert within <= set(result.races) <= races
    assert result.statistics.checkpoints > 0


@pytest.mark.parametrize("seed", range(20))
def test_every_miss_has_its_reason(seed):
    rng = random.Random(f"missed {seed}")
    trace = random_thread_trace(seed, 4, events=300)
    params = SigraceParams(cores=4, threads=4, history_depth=2, log_depth=rng.choice([1, 64]))
    interval = rng.choice([100, 10**6])
    found, ideal = (
        Sigrace(params, Environment("fixed"), interval, unbounded).run(trace)
        for unbounded in (False, True)
    )
    exact = HappensBefore().run(trace)
    reasons = race_outcomes(exact, found, ideal)
    assert list(reasons) == exact.races
    seen = set(reasons.values())
    assert {race for race, reason in reasons.items() if reason == RaceOutcome.REPORTED} == set(
        found.races
    )
    assert {race for race, reason in reasons.items() if reason == RaceOutcome.ATOMIC} == set(
        exact.involves_atomic
    )
    assert interval == 100 or RaceOutcome.CHECKPOINT not in seen
    if found.statistics.conflicts_dropped:
        assert RaceOutcome.OVERFLOW not in seen
    else:
        assert not seen & {RaceOutcome.LOG_FULL, RaceOutcome.OVERFLOW_OR_LOG_FULL}
