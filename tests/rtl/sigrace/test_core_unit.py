"""Core unit against the golden one: steps, messages flit by flit, traps; and its timing."""

import random
from dataclasses import replace

import pytest
from sigrace_blocks import EDGES
from sigrace_configurations import SMALL
from sigrace_core_bench import CoreUnitBench, random_events



def run(params, events, seed=None):
    bench = CoreUnitBench(params, seed)
    bench.run(events)
    bench.check(events)
    return bench


@pytest.mark.parametrize("settings", EDGES, ids=str)
def test_random_events(settings):
    params = replace(SMALL, **settings)
    events = random_events(params, random.Random(str(settings)), 300)
    run(params, events, seed=str(settings))
