"""Co-simulation finds every planted bug."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.gpu.region import Region
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.hirace.fast_compare import check_launch, transactions_of
from racetrap.sim.cosim.hirace.fast_simulation import FastSim
from racetrap.sim.cosim.hirace.random_events import STYLES, random_events
from tests.support.hirace.plans import DEEP_BANKS
from tests.support.hirace.planted_bugs import PLANTED_BUGS
from tests.support.planted_bugs import one_for_each_file

#: Four banks, so that the interconnect matters.
_PARAMS = replace(find_preset("hirace-tiny").params, banks=4)
_REGION = Region(data_base=1 << 13, size_log2=12, metadata_base=0x8000)


def _play(params, patch):
    model = build_fast("hirace-tiny", params, patch)
    with FastSim(model, seed=5, timing=MemoryTiming(watchdog=5_000)) as sim:
        for number, style in enumerate(STYLES.values()):
            events = random_events(params, _REGION, style, number, 1_500)
            check_launch(sim, params, _REGION, transactions_of(events, params))


@pytest.mark.campaign
@pytest.mark.parametrize("params", [DEEP_BANKS, _PARAMS], ids=["deep", "plain"])
def test_nothing_is_found_in_the_rtl_as_it_is(params):
    _play(params, None)


@pytest.mark.parametrize(
    "name", one_for_each_file({name: bug.file for name, bug in PLANTED_BUGS.items()}, step=20)
)
def test_planted_bug_is_found(name):
    with pytest.raises((Mismatch, SimulationError)):
        _play(_PARAMS, PLANTED_BUGS[name])
