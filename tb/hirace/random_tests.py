"""cocotb test with constrained-random stimulus, all SMs at once; the plan says which.

Plan: as of ``RandomTraffic``; a launch has ``style``, the name of one, and ``instructions``.
"""

from __future__ import annotations

from typing import Any

import cocotb

from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.packets import Transaction
from racetrap.sim.cosim.hirace.fast_compare import transactions_of
from racetrap.sim.cosim.hirace.random_events import STYLES, random_events
from racetrap.tb.base_test import run_test
from racetrap.tb.gpu.random_traffic import RandomTraffic
from racetrap.tb.hirace.environment import HiraceEnvironment

__all__ = ["random_traffic"]


class _RandomTraffic(RandomTraffic):
    """Random GPU runs, all SMs together."""

    environment_class = HiraceEnvironment

    def stimulus(self, number: int, launch: dict[str, Any]) -> list[tuple[int, Transaction]]:
        params = self.testbench.params
        seed = self.testbench.random(f"stimulus {number}").getrandbits(32)
        style, region = STYLES[launch["style"]], Region(**self.testbench.plan["region"])
        events = random_events(params, region, style, seed, launch["instructions"])
        return transactions_of(events, params)


@cocotb.test()
async def random_traffic(dut):
    await run_test(dut, _RandomTraffic)
