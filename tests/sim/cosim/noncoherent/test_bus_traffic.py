"""Operations beside traffic on an observed bus, in the fast co-simulation."""

from dataclasses import replace
from functools import cache
from random import Random

import pytest

from racetrap.evaluation.noncoherent.campaign import play
from racetrap.generators.presets import find_preset
from racetrap.golden_model.noncoherent.axi_monitor import AxiMonitor
from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.noncoherent.coverage import Coverage
from racetrap.sim.cosim.noncoherent.fast_compare import check_bus_run
from racetrap.sim.cosim.noncoherent.fast_simulation import BusPlay, FastSim
from racetrap.sim.cosim.noncoherent.random_bursts import random_bursts
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.noncoherent.bus_bench import BUS_BUGS

pytestmark = pytest.mark.campaign


@cache
def _model(bug=None):
    tiny = find_preset("noncoherent-tiny").params
    params = replace(tiny, observes_bus=True, engines=3, bus_fifo_depth=4)
    patch = None if bug is None else Patch("noncoherent/axi_monitor.py", *BUS_BUGS[bug])
    return build_fast("noncoherent-tiny", params, patch)


def _played(model, case=0):
    coverage = Coverage(model.params)
    return [*play(model, case, Random(case), coverage)], coverage


def test_bursts_of_all_kinds_are_checked_and_losses_counted():
    results, coverage = _played(_model())
    assert [result.bursts for result in results] == [1000] * len(results)
    assert 0 < sum(result.bursts_lost for result in results) < 6000
    # Stalls are counted where cocotb watches the pins.
    missed = [name.split(".") for name in coverage.missed]
    assert [parts for parts in missed if parts[0] == "bus" and len(parts) == 2] == []


def test_bursts_one_by_one_are_never_lost():
    model, random = _model(), Random(1)
    with FastSim(model) as sim:
        sim.start()
        bursts = BusPlay(random_bursts(random, model.params, 200, 256), 1, 20)
        listener = AxiMonitor(model.params)
        result = check_bus_run(sim, Monitor(model.params), listener, model.params, [], bursts)
    assert (result.bursts, result.bursts_lost) == (200, 0)


@pytest.mark.parametrize("bug", BUS_BUGS)
def test_a_planted_bug_of_the_listener_is_found(bug):
    with pytest.raises(Mismatch):
        _played(_model(bug))
