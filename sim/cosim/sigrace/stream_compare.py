"""A recorded program on the fast co-simulation, compared with compiled core units as arrays.

Cores run as fast as they can, and nobody rolls back: what a core does follows from the program
alone.  The golden RDM takes the messages in the order in which the hardware has taken them.

Ref: SigRace (ISCA'09) Section 3.
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.sigrace.environment import Environment, Remap
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreStep
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.playback import check_threads
from racetrap.golden_model.trace.threads.schema import THREAD_DTYPE
from racetrap.sim.cosim.comparison.mismatch import Mismatch, difference
from racetrap.sim.cosim.fast.garbage_collection import garbage_collection_paused
from racetrap.sim.cosim.fast.packing import nested, pack_records, unpack_records
from racetrap.sim.cosim.sigrace.fast_compare import RunResult
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim, Program
from racetrap.sim.cosim.sigrace.rdm_check import RdmCheck
from racetrap.sim.cpu.sigrace.compiled_sigrace import prepare_sigrace
from racetrap.sim.cpu.sigrace.core_stream import EVENT_COLUMNS, STEP_COLUMNS, CoreStream

__all__ = ["StreamCompare"]


class StreamCompare:
    """Comparison of a system after reset, which runs one program.

    Parameters
    ----------
    sim : FastSim
        The hardware.
    params : SigraceParams
        Its parameters.
    threads : int
        Threads of the program, each on a context of its own.

    Raises
    ------
    ValueError
        If the machine has too few contexts.
    """

    def __init__(self, sim: FastSim, params: SigraceParams, threads: int) -> None:
        self._sim, self._params = sim, params
        check_threads(threads, self._params, Environment())
        self._stream = CoreStream(prepare_sigrace(), self._params, threads)
        self._check = RdmCheck(self._params)
        self._units = []
        sim.rdm.control()
        for thread, (core, context) in enumerate(Environment().slots(self._params)[:threads]):
            self._units.append(core * self._params.contexts + context)
            remap = Remap(core, context, thread)
            sim.rdm.remap(remap)
            self._check.rdm.map(*remap)

    def flush(self) -> None:
        """Empty all queues."""
        self._sim.rdm.flush()
        self._check.rdm.flush()

    def clear_log(self) -> None:
        """Empty the conflict log."""
        self._sim.rdm.clear_log()
        self._check.rdm.clear_log()

    def run(self, events: np.ndarray) -> RunResult:
        """Play the program's next events, records of ``THREAD_DTYPE``, and compare all of it.

        Raises
        ------
        Mismatch
            If hardware and golden model differ.
        SimulationError
            If the simulation cannot go on.
        """
        check, sim = self._check, self._sim
        before = check.messages, check.steps, check.rdm.counters["conflicts"]
        with garbage_collection_paused():
            count = self._play(np.ascontiguousarray(events, THREAD_DTYPE))
            for step in sim.rdm_steps():
                check.step(step)
            check.settle()
        check.compare_registers(sim.rdm.log(), sim.rdm.status()["reasons"], sim.rdm.counters())
        stats = sim.stats
        return RunResult(
            count,
            check.messages - before[0],
            check.steps - before[1],
            check.rdm.counters["conflicts"] - before[2],
            stats.last_event - stats.first_event + 1,
        )

    def _play(self, events: np.ndarray) -> int:
        """Run the hardware, and compare the steps of its core units; how many."""
        params = self._params
        self._stream.take(events)
        messages = 0
        for block in self._stream.blocks():
            self._check.add(block)
            messages += 1
        columns = [self._stream.steps(thread) for thread in range(len(self._units))]
        program = Program([()] * (params.cores * params.contexts))
        for unit, steps in zip(self._units, columns, strict=True):
            own = [steps[name] for name in EVENT_COLUMNS]
            program.events[unit] = pack_records(params.event_layout, own)
        self._sim.run(program, messages, 0)
        self._sim.rdm.wait_idle()
        for unit, steps in zip(self._units, columns, strict=True):
            self._compare(unit, steps)
        return sum(map(len, columns))

    def _compare(self, unit: int, steps: np.ndarray) -> None:
        """Compare the steps of a core unit; it gives no trap records."""
        layout = self._params.core_step_layout
        golden = pack_records(layout, [steps[name] for name in STEP_COLUMNS])
        seen = self._sim.core_words(unit)
        place = "Core {}, context {}".format(*divmod(unit, self._params.contexts))
        if len(seen) != len(golden):
            raise Mismatch(f"{place}: steps must number {len(golden)}, not {len(seen)}")
        rows = np.flatnonzero((seen != golden).any(axis=1))
        if len(rows):
            pair = np.stack([seen[rows[0]], golden[rows[0]]])
            both = map(nested(CoreStep, CoreEvent), *unpack_records(layout, pair))
            raise Mismatch(f"{place}, step {rows[0]}: {difference('step', *both)}")
        if self._sim.traps(unit):
            raise Mismatch(f"{place}: no trap record must come in Normal mode")
