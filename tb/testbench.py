"""Shared context of all components of a test: plan, signals, clock, randomness, coverage."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from racetrap.generators.systems import system_named
from racetrap.sim.cosim.verilator import plan
from racetrap.tb.clocking import Clocking
from racetrap.tb.pins import Pins


class Testbench:
    """Context of one test, which every component finds under ``TESTBENCH`` in the ConfigDB.

    Parameters
    ----------
    dut : cocotb handle
        The testbench module.

    Attributes
    ----------
    plan : dict
        Data for the test, from the process that started the simulator.
    params : ScordParams or SigraceParams
        Configuration of the device.
    registers : mapping
        Registers by name, from the generator's description.
    pins : Pins
        Signals.
    clocking : Clocking
        Clock.
    """

    def __init__(self, dut: Any):
        self.plan = plan.read_plan()
        self.params: Any = system_named(self.plan["system"]).params(**self.plan["params"])
        self.registers: Mapping[str, Any] = self.plan["registers"]
        self.pins = Pins(dut, self.plan["testbench"])
        self.clocking = Clocking(self.pins)

    def random(self, name: str) -> Random:
        """Generator of a component: its numbers do not change when another component's do."""
        return Random(f"{self.plan['seed']} {name}")

    def note(self, document: Mapping[str, Any]) -> None:
        """Tell the process that started the simulator something, at once."""
        plan.note(document)
