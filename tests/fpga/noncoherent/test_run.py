"""Operations on a device: every report and counter is the golden model's."""

from dataclasses import replace
from random import Random

import pytest

from racetrap.fpga.host.client import HostLink
from racetrap.fpga.host.session import Session
from racetrap.fpga.noncoherent.run import run_operations
from racetrap.generators.presets import find_preset
from racetrap.sim.accelerator.random_operations import random_operations
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from tests.support.fpga.monitor_device import monitor_device
from tests.support.fpga.virtual_device import on_terminal

_PARAMS = replace(find_preset("noncoherent-tiny").params, trace_port=False)


def _run(operations, *, bug=None, **settings):
    device = monitor_device(_PARAMS)
    if bug is not None:
        bug(device._target)
    with on_terminal(device.receive) as port, HostLink(port, timeout_s=2) as link:
        return run_operations(Session(link, _PARAMS, "tiny"), _PARAMS, operations, **settings)


def _operations(seed):
    return random_operations(Random(seed), _PARAMS.memory, 80, 8 * _PARAMS.line_bytes)


@pytest.mark.parametrize("pull_every", [8, 200])
def test_reports_are_those_of_the_model(pull_every):
    reached = []
    run = _run(_operations(3), progress=reached.append, pull_every=pull_every)
    racy = sum(step.dma.found or step.cache.found for step in run.steps)
    assert run.reports + run.counters["reports_dropped"] == racy > 16
    assert (run.counters["reports_dropped"] > 0) == (pull_every > 16)
    assert run.operations == 80
    assert reached[-1] < 80


def test_a_second_run_finds_nothing_of_the_first():
    device = monitor_device(_PARAMS)
    with on_terminal(device.receive) as port, HostLink(port, timeout_s=2) as link:
        session = Session(link, _PARAMS, "tiny")
        first, again = (run_operations(session, _PARAMS, _operations(5)) for _ in range(2))
    assert (first.reports, first.steps) == (again.reports, again.steps)


def _damage_records(target):
    pull = target.pull
    target.pull = lambda channel: None if (record := pull(channel)) is None else record ^ 1 << 40


def test_a_record_that_differs_is_found():
    with pytest.raises(Mismatch, match="Report 0 must be of a step that raced"):
        _run(_operations(3), bug=_damage_records)
