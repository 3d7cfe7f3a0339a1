"""One instance of the Verilated SigRace system, driven a run of commands at a time.

Ref: SigRace (ISCA'09) Sections 3 and 4.3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreStep, RdmStep, Trap
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.packing import pack_records, unpack_records, words_of
from racetrap.sim.cosim.fast.simulation import Simulation, SimulationError, words_at
from racetrap.sim.cosim.sigrace.fast_library import FUNCTIONS, SimStats, Timing
from racetrap.sim.cosim.sigrace.rdm_software import RdmSoftware, remap_fields

__all__ = ["FastSim", "Program"]


@dataclass
class Program:
    """What all contexts do in one run.

    Attributes
    ----------
    events : list of list of CoreEvent
        Events of each context, in its order.
    remaps : list of (Remap, int)
        Changes of CoreToThread, in order, each with the messages of its context that come first.
    stops : list of list of (int, int, int)
        Of each context: before its event number n, so many remaps must be done, and so many
        messages of all contexts taken.
    """

    events: list[list[CoreEvent]]
    remaps: list[tuple[Remap, int]] = field(default_factory=list)
    stops: list[list[tuple[int, int, int]]] = field(default_factory=list)


class FastSim(Simulation[Timing, SimStats]):
    """A system after reset.

    Parameters
    ----------
    model : FastModel
        What ``build_fast`` made.
    seed : int
        Seed of all that is random in the simulated world, junk in unreset state included.
    timing : Timing
        How cores behave; may be set again between runs.

    Attributes
    ----------
    rdm : RdmSoftware
        Registers of the RDM.
    seconds : float
        Seconds of the processor that all runs of the hardware took.

    Raises
    ------
    SimulationError
        From every method that lets time pass.
    """

    def __init__(
        self, model: FastModel[SigraceParams], seed: int = 0, timing: Timing | None = None
    ):
        super().__init__(model, seed, FUNCTIONS, timing or Timing(), SimStats)
        self._params = model.params
        self._units = model.params.cores * model.params.contexts
        self._buffers: dict[object, NDArray] = {}  # what the library points to
        self.rdm = RdmSoftware(self, model.params, self._wait_until)
        self.seconds = 0.0

    def _wait_until(self, is_done: Callable[[], bool], what: str) -> None:
        end = self.stats.cycles + self._timing.watchdog
        while not is_done():
            if self.stats.cycles > end:
                raise SimulationError(f"RDM must {what} within {self._timing.watchdog} cycles")

    # A run ------------------------------------------------------------------------------

    def run(self, program: Program, messages: int, traps: int) -> None:
        """Play events until all are taken and all steps, messages and traps have come.

        Parameters
        ----------
        program : Program
            Events and remaps.
        messages, traps : int
            Messages that the RDM must have finished, and trap records, of all contexts.
        """
        for unit, events in enumerate(program.events):
            self._load(unit, events, program.stops[unit] if program.stops else [])
        rows = [(self._unit(remap), due, *self._writes(remap)) for remap, due in program.remaps]
        remaps = self._buffers["remaps"] = np.array(rows, dtype=np.uint64)
        select, mapping = map(self._registers.address, ("MAP_SELECT", "MAP"))
        self._library.sim_remaps(self._sim, remaps.ctypes.data, len(rows), select, mapping)
        started = time.process_time()
        failed = self._library.sim_run(self._sim, messages, traps)
        self.seconds += time.process_time() - started
        if failed:
            raise SimulationError(self._failure())

    def _writes(self, remap: Remap) -> list[int]:
        """Values of MAP_SELECT and MAP."""
        return [self._registers.pack(name, **fields) for name, fields in remap_fields(remap)]

    def _unit(self, place: Remap) -> int:
        return place.core * self._params.contexts + place.context

    def _load(
        self, unit: int, events: Sequence[CoreEvent], stops: list[tuple[int, int, int]]
    ) -> None:
        layout = self._params.event_layout
        columns: list[tuple[int, ...]] = list(zip(*events, strict=True))
        words = pack_records(layout, columns or [()] * len(layout.fields))
        gates = np.array(stops, dtype=np.uint64)
        self._buffers["events", unit] = words
        self._buffers["stops", unit] = gates
        self._library.sim_events(
            self._sim, unit, words.ctypes.data, len(events), gates.ctypes.data, len(stops)
        )

    # Results ----------------------------------------------------------------------------

    def core_words(self, unit: int) -> NDArray[np.uint32]:
        """Steps of the last run on a core unit's trace port, each a row of 32-bit words."""
        count = self._library.sim_step_count(self._sim, unit)
        width = words_of(self._params.core_step_layout)
        return words_at(self._library.sim_steps(self._sim, unit), count, width)

    def core_steps(self, unit: int) -> list[CoreStep]:
        """Steps of the last run on a core unit's trace port."""
        columns = unpack_records(self._params.core_step_layout, self.core_words(unit))
        fields = len(CoreEvent._fields)
        return list(map(CoreStep, map(CoreEvent, *columns[:fields]), *columns[fields:]))

    def traps(self, unit: int) -> list[Trap]:
        """Trap records that a core unit gave in the last run."""
        count = self._library.sim_trap_count(self._sim, unit)
        layout = self._params.trap_layout
        words = words_at(self._library.sim_traps(self._sim, unit), count, words_of(layout))
        return list(map(Trap, *unpack_records(layout, words)))

    def rdm_steps(self) -> list[RdmStep]:
        """Steps of the last run on the RDM's trace port."""
        layout = self._params.rdm_step_layout
        count = self._library.sim_rdm_count(self._sim)
        words = words_at(self._library.sim_rdm_steps(self._sim), count, words_of(layout))
        return list(map(RdmStep, *unpack_records(layout, words)))

    def rdm_cycles(self) -> list[int]:
        """Cycle, since reset, of each of ``rdm_steps``."""
        count = self._library.sim_rdm_count(self._sim)
        if not count:
            return []
        pointer = self._library.sim_rdm_cycles(self._sim)
        return np.ctypeslib.as_array(pointer, shape=(count,)).tolist()
