"""Driver software of a protected detector, on its Verilog."""

from dataclasses import asdict, replace
from random import Random

import pytest

from racetrap.generators.presets import find_preset
from racetrap.golden_model.gpu.protection import Bounds, MemoryBounds
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.protection import PageProtection
from racetrap.sim.cosim.fast.build import build_fast
from racetrap.sim.cosim.fast.simulation import SimulationError
from racetrap.sim.cosim.gpu.gpu_software import GpuSoftware
from racetrap.sim.cosim.scord.fast_simulation import FastSim

_PARAMS = replace(find_preset("scord-tiny").params, protection=True)
_BOUNDS = MemoryBounds(Bounds(0x10000, 0x11FFF), Bounds(0x20000, 0x200FF))


@pytest.mark.campaign
def test_bounds_and_protection_by_software():
    random, outside = Random(3), 0
    print("seed 3")
    with FastSim(build_fast("scord-tiny", _PARAMS), 1) as sim:
        software = GpuSoftware(sim, lambda is_done, what: None)
        software.set_bounds(_BOUNDS, lock=True)
        with pytest.raises(SimulationError):
            software.set_bounds(MemoryBounds(), lock=False)
        for _ in range(200):
            region = Region(0, 12, random.choice((0xFFF8, 0x10000, 0x11F80, 0x11F88, 0x12000)))
            ring, ring_log2 = random.choice((0x1FFE0, 0x20000, 0x200E0)), random.randrange(5)
            try:
                # A launch within the bounds would need memory there.
                _BOUNDS.check(_PARAMS, region, ring, 32 << ring_log2)
            except ValueError:
                assert sim.is_refused(region, ring, ring_log2), (region, ring, ring_log2)
                assert sim.read("LAUNCHES_OUTSIDE") == 1
                outside += 1
        assert 0 < outside < 200
        required = PageProtection(privileged_writes=True)
        software.protect(required, lock=True)
        fields = sim.map.fields("PROTECTION", sim.read("PROTECTION"))
        assert fields == {**{name: int(on) for name, on in asdict(required).items()}, "lock": 1}
        # The simulation's accesses are not privileged.
        with pytest.raises(SimulationError):
            software.protect(PageProtection(), lock=False)
