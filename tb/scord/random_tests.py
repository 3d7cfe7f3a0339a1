"""cocotb test with constrained-random stimulus, all SMs at once; the plan says which.

Plan: as of ``RandomTraffic``; a launch has ``knobs``, the name of a knob preset, ``changes`` with
single knobs to change, and ``instructions``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import cocotb

from racetrap.golden_model.events import Event
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events
from racetrap.tb.base_test import run_test
from racetrap.tb.gpu.random_traffic import RandomTraffic
from racetrap.tb.scord.environment import ScordEnvironment


class _RandomTraffic(RandomTraffic):
    """Random GPU runs, all SMs together."""

    environment_class = ScordEnvironment

    def events(self, launch: dict[str, Any], seed: int) -> Iterable[Event]:
        knobs = replace(KNOBS[launch["knobs"]], **launch.get("changes", {}))
        params, region = self.testbench.params, self.region()
        return random_events(params, region, knobs, seed, launch["instructions"])


@cocotb.test()
async def random_traffic(dut):
    await run_test(dut, _RandomTraffic)
