"""Fast simulation of a SigRace system, run by run of commands.

Ref: SigRace (ISCA'09) Sections 3 and 4.3.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from ctypes import c_int, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreStep, RdmStep, Trap
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.sim.compiled_library import Functions
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.packing import nested, pack_tuples, unpack_records
from racetrap.sim.cosim.fast.simulation import Simulation, SimulationTiming
from racetrap.sim.cosim.sigrace.rdm_software import RdmSoftware, remap_fields
from racetrap.sim.twins import numbers

#: Functions of shim.cpp besides those of every library.
_FUNCTIONS: Functions = {
    "sim_events": (None, [c_void_p, c_uint32, c_void_p, c_uint64, c_void_p, c_uint64, c_void_p]),
    "sim_remaps": (None, [c_void_p, c_void_p, c_uint64, c_uint32, c_uint32]),
    "sim_run": (c_int, [c_void_p, c_uint64, c_uint64]),
}


class Stop(NamedTuple):
    """What must precede an event of a context.

    Parameters
    ----------
    event : int
        Number of the event.
    remaps, messages : int
        Remaps that are done, and messages that the RDM has taken, of all contexts.
    unit, events : int
        Events of that context that are taken.
    """

    event: int
    remaps: int = 0
    messages: int = 0
    unit: int = 0
    events: int = 0


#: Rows of a program's remaps and stops.
PROGRAM_TWINS = (
    numbers("Remap", ("unit", "messages", "select", "map")),
    numbers("Stop", Stop._fields),
)


@dataclass(frozen=True)
class Timing(SimulationTiming):
    """Timing of cores in a run; the defaults are the fastest.

    Parameters
    ----------
    idle_percent : int
        Percentage of cycles in which an idle context stays idle.
    trap_stall : int
        Percentage of cycles in which no trap record is taken.

    Raises
    ------
    ValueError
        If a value is out of range.
    """

    idle_percent: int = 0
    trap_stall: int = 0

    limits: ClassVar = {"idle_percent": (0, 99), "trap_stall": (0, 99)}


class SimStats(NamedTuple):
    """Cycles of the simulation and of its last run.

    Parameters
    ----------
    cycles, digest : int
        Cycles since reset, and a digest of those with a transfer.
    first_event, last_event : int
        Cycles of the first and the last event of the last run.
    stalls, rdm_stalls : int
        Cycles of it in which an event had to wait, of all contexts, and those in which its core's
        link took nothing either.
    searching, decompressing : int
        Cycles between its first and its last message's end in which the RDM compared a message, and
        in which it only decompressed.
    """

    cycles: int
    digest: int
    first_event: int
    last_event: int
    stalls: int
    rdm_stalls: int
    searching: int
    decompressing: int


@dataclass
class Program:
    """Events and remaps of all contexts in one run.

    Attributes
    ----------
    events : list of sequence of CoreEvent, or of numpy.ndarray
        Events of each context, in its order; an array has them packed.
    remaps : list of (Remap, int)
        Changes of CoreToThread, in order, each with the number of its context's earlier messages.
    stops : list of sequence of Stop, or of numpy.ndarray
        For each context, by ascending event.
    paces : list of numpy.ndarray
        For each context, the least number of cycles between each event and the one before; without
        them events follow each other as fast as they are taken.
    """

    events: list[Any]
    remaps: list[tuple[Remap, int]] = field(default_factory=list)
    stops: list[Any] = field(default_factory=list)
    paces: list[NDArray[np.uint32]] = field(default_factory=list)


class FastSim(Simulation[Timing, SimStats]):
    """A system after reset.

    Parameters
    ----------
    model : FastModel
        Library from ``build_fast``.
    seed : int
        Seed of all randomness in the simulation, including unreset state.
    timing : Timing
        Timing of cores; may be changed between runs.

    Attributes
    ----------
    rdm : RdmSoftware
        Registers of the RDM.
    seconds : float
        CPU time of all runs of the hardware, in seconds.

    Raises
    ------
    SimulationError
        From every method that advances time.
    """

    def __init__(
        self, model: FastModel[SigraceParams], seed: int = 0, timing: Timing | None = None
    ):
        super().__init__(model, seed, _FUNCTIONS, timing or Timing(), SimStats, PROGRAM_TWINS)
        self._params = model.params
        self._units = model.params.cores * model.params.contexts
        self.rdm = RdmSoftware(self, model.params, self._wait_until)
        self.seconds = 0.0

    # A run ------------------------------------------------------------------------------

    def run(self, program: Program, messages: int, traps: int) -> None:
        """Play events until all are taken and all steps, messages and traps have been seen.

        Parameters
        ----------
        program : Program
            Events and remaps.
        messages, traps : int
            Messages that the RDM must have finished, and trap records, of all contexts.

        Raises
        ------
        ValueError
            If a stop has another number of fields than ``Stop``, or a pace of events.
        """
        for unit, events in enumerate(program.events):
            stops = program.stops[unit] if program.stops else []
            self._load(unit, events, stops, program.paces[unit] if program.paces else None)
        rows = [(self._unit(remap), due, *self._writes(remap)) for remap, due in program.remaps]
        remaps = self._buffers["remaps"] = np.array(rows, dtype=np.uint64)
        select, mapping = map(self.map.address, ("MAP_SELECT", "MAP"))
        self._library.sim_remaps(self._sim, remaps.ctypes.data, len(rows), select, mapping)
        started = time.process_time()
        failed = self._library.sim_run(self._sim, messages, traps)
        self.seconds += time.process_time() - started
        self._must(not failed)

    def _writes(self, remap: Remap) -> list[int]:
        """Values of MAP_SELECT and MAP."""
        return [self.map.pack(name, **fields) for name, fields in remap_fields(remap)]

    def _unit(self, place: Remap) -> int:
        return place.core * self._params.contexts + place.context

    def _load(
        self,
        unit: int,
        events: Sequence[CoreEvent] | NDArray[np.uint32],
        stops: Sequence[Stop] | NDArray[np.uint64],
        pace: NDArray[np.uint32] | None,
    ) -> None:
        layout = self._params.event_layout
        words = events if isinstance(events, np.ndarray) else pack_tuples(layout, events)
        gates = np.array(stops, dtype=np.uint64)
        # The library reads so many rows of this size, whatever lies there.
        if len(stops) and gates.shape[1:] != (len(Stop._fields),):
            raise ValueError(
                f"Stops of context {unit} must have the {len(Stop._fields)} fields of Stop, "
                f"not {len(stops[0])}"
            )
        if pace is not None and len(pace) != len(events):
            raise ValueError(
                f"Pace of context {unit} must be of its {len(events)} events, not {len(pace)}"
            )
        self._buffers["events", unit], self._buffers["stops", unit] = words, gates
        if pace is not None:
            self._buffers["pace", unit] = pace
        self._library.sim_events(
            self._sim, unit, words.ctypes.data, len(events), gates.ctypes.data, len(stops),
            None if pace is None else pace.ctypes.data,
        )  # fmt: skip

    # Results ----------------------------------------------------------------------------

    def core_words(self, unit: int) -> NDArray[np.uint32]:
        """Steps of the last run on a core unit's trace port, each a row of 32-bit words."""
        return self._trace(unit, self._params.core_step_layout)

    def core_steps(self, unit: int) -> list[CoreStep]:
        """Steps of the last run on a core unit's trace port."""
        columns = unpack_records(self._params.core_step_layout, self.core_words(unit))
        return list(map(nested(CoreStep, CoreEvent), *columns))

    def traps(self, unit: int) -> list[Trap]:
        """Trap records that a core unit gave in the last run."""
        layout = self._params.trap_layout
        return list(map(Trap, *unpack_records(layout, self._trace(self._units + unit, layout))))

    def rdm_words(self) -> NDArray[np.uint32]:
        """Steps of the last run on the RDM's trace port, each a row of 32-bit words."""
        return self._trace(2 * self._units, self._params.rdm_step_layout)

    def rdm_steps(self) -> list[RdmStep]:
        """Steps of the last run on the RDM's trace port."""
        return list(map(RdmStep, *unpack_records(self._params.rdm_step_layout, self.rdm_words())))

    def rdm_cycles(self) -> list[int]:
        """Cycle, since reset, of each of ``rdm_steps``."""
        return self._trace_cycles(2 * self._units)
