"""cocotb test with constrained-random stimulus, all SMs at once; the plan says which.

Plan: as of ``RandomTraffic``; a launch has ``knobs``, the name of a knob preset, ``changes`` with
single knobs to change, and ``instructions``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cocotb

from racetrap.golden_model.scord.packets import Transaction
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events, transactions_of
from racetrap.tb.base_test import run_test
from racetrap.tb.gpu.random_traffic import RandomTraffic
from racetrap.tb.scord.environment import ScordEnvironment


class _RandomTraffic(RandomTraffic):
    """Random GPU runs, all SMs together."""

    environment_class = ScordEnvironment

    def stimulus(self, number: int, launch: dict[str, Any]) -> list[tuple[int, Transaction]]:
        params = self.testbench.params
        seed = self.testbench.random(f"stimulus {number}").getrandbits(32)
        knobs = replace(KNOBS[launch["knobs"]], **launch.get("changes", {}))
        events = random_events(params, self.region(), knobs, seed, launch["instructions"])
        return list(transactions_of(events, params))


@cocotb.test()
async def random_traffic(dut):
    await run_test(dut, _RandomTraffic)
