"""One instance of the Verilated SigRace system, driven a run of commands at a time.

Ref: SigRace (ISCA'09) Sections 3 and 4.3.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.sigrace.environment import Remap
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreStep, LogEntry, RdmStep, Trap
from racetrap.golden_model.sigrace.params import WORD_BITS, SigraceParams
from racetrap.sim.fast.build import FastModel
from racetrap.sim.fast.packing import pack_records, unpack_records, words_of
from racetrap.sim.fast.sigrace.library import FUNCTIONS, SimStats, Timing
from racetrap.sim.fast.simulation import Simulation, SimulationError, words_at

__all__ = ["FastSim", "Program"]

_STATUS_IDLE, _STATUS_REASONS = 1 << 0, 8
_CONTROL_ENABLE, _CONTROL_IRQ_ENABLE = 1 << 0, 1 << 1
_CONTROL_FLUSH, _CONTROL_CLEAR_LOG, _CONTROL_CLEAR_COUNTERS = 1 << 8, 1 << 9, 1 << 10
_PENDING_REASONS = 7


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
        self._control = 0
        self.seconds = 0.0

    # Registers --------------------------------------------------------------------------

    def control(self, *, enable: bool = True, irq_enable: bool = False) -> None:
        """Switch checking, and the interrupt, on or off."""
        self._control = _CONTROL_ENABLE * enable | _CONTROL_IRQ_ENABLE * irq_enable
        self.write("CONTROL", self._control)

    def flush(self) -> None:
        """Empty the BlockHistoryQueues."""
        self.write("CONTROL", self._control | _CONTROL_FLUSH)
        self.wait_idle()

    def clear_log(self) -> None:
        """Empty the conflict log."""
        self.write("CONTROL", self._control | _CONTROL_CLEAR_LOG)
        self.wait_idle()

    def clear_counters(self) -> None:
        """Set all counters to 0."""
        self.write("CONTROL", self._control | _CONTROL_CLEAR_COUNTERS)

    def wait_idle(self) -> None:
        """Poll the status until the RDM is idle."""
        end = self.stats.cycles + self._timing.watchdog
        while not self.read("STATUS") & _STATUS_IDLE:
            if self.stats.cycles > end:
                raise SimulationError(
                    f"Status must become idle within {self._timing.watchdog} cycles"
                )

    @property
    def reasons(self) -> int:
        """``Reason`` of the rollback request."""
        return self.read("STATUS") >> _STATUS_REASONS & _PENDING_REASONS

    def counters(self) -> dict[str, int]:
        """All event counters, by register name in lower case."""
        return self.read_from("MESSAGES")

    def log(self) -> list[LogEntry]:
        """The conflict log, oldest entry first."""
        return [self._log_entry(number) for number in range(self.read("LOG_COUNT"))]

    def _log_entry(self, number: int) -> LogEntry:
        params, entry = self._params, 0
        for word in range(params.log_words):
            self.write("LOG_SELECT", number << 16 | word)
            entry |= self.read("LOG_DATA") << word * WORD_BITS
        fields = params.log_layout.unpack(entry)
        for name in ("thread_timestamp", "other_timestamp"):
            fields[name] = tuple(
                fields[name] >> index * params.timestamp_bits & params.max_counter
                for index in range(params.threads)
            )
        del fields["unused"]
        return LogEntry(**fields)

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
        rows = [
            (self._unit(remap), due, remap.core | remap.context << 8, _mapping(remap))
            for remap, due in program.remaps
        ]
        remaps = self._buffers["remaps"] = np.array(rows, dtype=np.uint64)
        select, mapping = map(self._registers.address, ("MAP_SELECT", "MAP"))
        self._library.sim_remaps(self._sim, remaps.ctypes.data, len(rows), select, mapping)
        started = time.process_time()
        failed = self._library.sim_run(self._sim, messages, traps)
        self.seconds += time.process_time() - started
        if failed:
            raise SimulationError(self._failure())

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


def _mapping(remap: Remap) -> int:
    """Value of register MAP."""
    return 0 if remap.thread is None else remap.thread | 1 << 8
