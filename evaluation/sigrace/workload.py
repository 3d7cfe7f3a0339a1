"""Random workload for SigRace: events of all cores of the paper's configuration.

Ref: SigRace (ISCA'09) Table 4 (the multiprocessor simulated).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, ClassVar

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.rdm import Rdm
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.sigrace.fast_compare import check_commands
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim
from racetrap.sim.cosim.sigrace.knobs import KNOBS
from racetrap.sim.cosim.sigrace.plans import fast_cores, random_plan
from racetrap.sim.cosim.sigrace.random_events import random_events
from racetrap.sim.cosim.sigrace.scoreboard import Scoreboard

_KNOBS = "mixed"


class SigraceWorkload:
    """As ``speed.Workload``; a size is a number of actions, most of which are an event."""

    sizes: ClassVar[tuple[int, int]] = (100_000, 10_000)

    def __init__(self, model: FastModel[SigraceParams], seed: int, size: int) -> None:
        self._model, self._params = model, model.params
        self._commands = list(random_events(self._params, KNOBS[_KNOBS], seed, size))
        self.volume = sum(not isinstance(command, Remap) for command in self._commands)

    def golden(self) -> float:
        params = self._params
        units = {
            (core, context): CoreUnit(params, core, context)
            for core in range(params.cores)
            for context in range(params.contexts)
        }
        rdm = Rdm(params)
        with garbage_collection_paused():
            started = time.process_time()
            for command in self._commands:
                if isinstance(command, Remap):
                    rdm.map(*command)
                    continue
                unit = units[command.core, command.context]
                unit.step(command.event)
                for block in unit.blocks:
                    rdm.summary(block.summary(params))
                unit.blocks.clear()
                unit.traps.clear()
            return time.process_time() - started

    def hardware(self) -> float:
        return self._compare()[1]

    def together(self) -> float:
        return self._compare()[0]

    def _compare(self) -> tuple[float, float]:
        """Seconds of hardware and golden model with everything compared, and of the hardware."""
        with FastSim(self._model) as sim:
            sim.rdm.control()
            started = time.process_time()
            check_commands(sim, Scoreboard(self._params), self._params, self._commands)
            return time.process_time() - started, sim.seconds

    @staticmethod
    def plan(size: int) -> dict[str, Any]:
        return random_plan([_KNOBS], size, fast_cores())

    @staticmethod
    def volume_of(note: Mapping[str, Any]) -> int | None:
        return note["events"] if "run" in note else None
