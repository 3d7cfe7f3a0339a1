"""Sleeping changes no verdict and no result: every kernel of two suites, asleep and awake."""

import pytest

from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.sleepers import Polls
from racetrap.sim.gpu.oracle.rules import run_oracle
from racetrap.sim.gpu.suites.concurrency.cases import CASES
from racetrap.sim.gpu.suites.concurrency.runner import GEOMETRY, SCHEDULES, run_case
from tests.support.gpu.constructs.cases import GROUPS, run_kernel

KERNELS = [
    (pair, kernel)
    for pairs in GROUPS.values() for pair in pairs for kernel in (pair.free, pair.racy)
]  # fmt: skip


def _of_case(name, schedule):
    device = Device(GEOMETRY, scheduler=schedule[0], seed=schedule[1])
    data = run_case(CASES[name], device)
    return data, device.trace(name), False


def _of_construct(number, schedule):
    pair, kernel = KERNELS[number]
    run = run_kernel(pair, kernel, *schedule)
    return run.data, run.trace, pair.independent


SUBJECTS = [
    *((_of_case, name) for name in CASES), *((_of_construct, at) for at in range(len(KERNELS))),
]  # fmt: skip


def _outcomes(run, subject):
    """By schedule, what memory is in the end, the races, and whether there are any."""
    found = []
    for schedule in SCHEDULES:
        data, trace, independent = run(subject, schedule)
        result = run_oracle(trace, "causality", independent)
        races = {
            (race.space, *sorted((race.first.pc, race.second.pc)), race.race_class)
            for race in result.races
        }
        found.append((data, bool(races), result.barrier_divergences, races))
    return found


@pytest.mark.campaign
@pytest.mark.parametrize(("run", "subject"), SUBJECTS)
def test_kernels_end_the_same_asleep_and_awake(monkeypatch, run, subject):
    asleep = _outcomes(run, subject)
    monkeypatch.setattr(Polls, "goes_round", lambda polls, state: False)
    awake = _outcomes(run, subject)
    for schedule, one, other in zip(SCHEDULES, asleep, awake, strict=True):
        # A random schedule draws among those that are awake, so that it is another order, which
        # may show other pairs of lines of a kernel that races.
        parts = 3 if schedule[0] == "random" else 4
        assert one[:parts] == other[:parts]
