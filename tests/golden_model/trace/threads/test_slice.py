"""Slices of random traces of threads: races of what is left, instructions, wrong threads."""

from random import Random

import numpy as np
import pytest

from racetrap.golden_model.trace import ThreadTrace
from racetrap.golden_model.trace.threads.events import ACCESS_KINDS
from racetrap.golden_model.trace.threads.slice import slice_trace
from tests.support.threads.brute_force import brute_force_races
from tests.support.threads.random_traces import random_thread_trace


def _numbered(seed: int) -> ThreadTrace:
    """A random trace in which the program counter of an event is its number."""
    trace = random_thread_trace(seed, events=120, addresses=32)
    records = trace.events.copy()
    records["pc"] = np.arange(len(records))
    records["instructions"] = np.random.default_rng(seed).integers(1, 100, len(records))
    return ThreadTrace(trace.header, records)


@pytest.mark.parametrize("seed", range(10))
def test_accesses_that_are_left_race_as_before(seed):
    whole, rng = _numbered(seed), Random(seed)
    begin = rng.randrange(len(whole) - 1)
    events = range(begin, rng.randrange(begin + 1, len(whole)))
    threads = rng.sample(range(4), rng.randint(1, 4))
    for some, of in ((events, None), (None, threads), (events, threads)):
        part = slice_trace(whole, some, of)
        kept = {
            number for number, event in enumerate(whole)
            if event.kind not in ACCESS_KINDS
            or ((some is None or number in some) and (of is None or event.thread in of))
        }  # fmt: skip
        assert [event.pc for event in part] == sorted(kept)
        assert brute_force_races(part) == {
            race: found for race, found in brute_force_races(whole).items()
            if {race.first.pc, race.second.pc} <= kept
        }  # fmt: skip
        for thread in range(4):
            totals = np.cumsum(whole.events["instructions"] * (whole.events["thread"] == thread))
            mine = part.events[part.events["thread"] == thread]
            assert np.cumsum(mine["instructions"]).tolist() == totals[mine["pc"]].tolist()


def test_a_thread_that_is_not_there():
    with pytest.raises(ValueError, match=r"Thread .* 4"):
        slice_trace(_numbered(0), threads=[4])


def test_too_many_instructions_to_count():
    trace = _numbered(1)
    records = trace.events.copy()
    records["instructions"] = (1 << 32) - 1
    with pytest.raises(ValueError, match="Instructions"):
        slice_trace(ThreadTrace(trace.header, records), range(1))
