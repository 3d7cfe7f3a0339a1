"""What all components of a bench share: the plan, the signals, the clock, randomness."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from racetrap.generators.systems import system_named
from racetrap.sim.cosim.verilator.cocotb_run import NOTES, PLAN
from racetrap.tb.clocking import Clocking
from racetrap.tb.pins import Pins

__all__ = ["Bench"]


class Bench:
    """Shared context of one test, found by every component under ``BENCH`` in the ConfigDB.

    Parameters
    ----------
    dut : cocotb handle
        The bench module.

    Attributes
    ----------
    plan : dict
        What the test was told to do.
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
        path = Path(os.environ[PLAN])
        self.plan: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        self.params: Any = system_named(self.plan["system"]).params(**self.plan["params"])
        self.registers: Mapping[str, Any] = self.plan["registers"]
        self.pins = Pins(dut, self.plan["bench"])
        self.clocking = Clocking(self.pins)
        self._notes = path.with_name(NOTES)

    def random(self, name: str) -> Random:
        """Generator of a component: its numbers do not change when another component's do."""
        return Random(f"{self.plan['seed']} {name}")

    def note(self, document: Mapping[str, Any]) -> None:
        """Tell the process that started the simulator something, at once."""
        with self._notes.open("a", encoding="utf-8") as file:
            file.write(json.dumps(document) + "\n")
