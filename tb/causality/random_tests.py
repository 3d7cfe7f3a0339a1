"""cocotb test with constrained-random stimulus, all SMs at once; the plan says which.

Plan: as of ``RandomTraffic``; a launch has ``style``, the name of one, and ``instructions``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import cocotb

from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.region import Region
from racetrap.sim.cosim.causality.random_events import random_events
from racetrap.sim.cosim.causality.styles import STYLES
from racetrap.tb.base_test import run_test
from racetrap.tb.causality.environment import CausalityEnvironment
from racetrap.tb.gpu.random_traffic import RandomTraffic


class _RandomTraffic(RandomTraffic):
    """Random GPU runs, all SMs together."""

    environment_class = CausalityEnvironment

    def events(self, launch: dict[str, Any], seed: int) -> Iterable[Event]:
        style, region = STYLES[launch["style"]], self.region()
        assert isinstance(region, Region)
        return random_events(self.testbench.params, region, style, seed, launch["instructions"])


@cocotb.test()
async def random_traffic(dut):
    await run_test(dut, _RandomTraffic)
