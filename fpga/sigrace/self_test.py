"""What a board with SigRace plays to test itself."""

from __future__ import annotations

from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.random_run import random_run

_RANDOM_EVENTS = 60


def random_trace(params: SigraceParams, seed: int) -> ThreadTrace:
    """A random program, whose conflict logs become full, of as many threads as there can be."""
    return random_run(seed, threads=params.threads, events=_RANDOM_EVENTS)
