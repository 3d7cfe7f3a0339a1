"""Comparison of a recorded program on the fast co-simulation with the compiled model, as arrays.

There are no rollbacks: a core's events depend on the program alone.
The compiled RDM takes the messages in the hardware's order.

Ref: SigRace (ISCA'09) Section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from racetrap.generators.garbage_collection import garbage_collection_paused
from racetrap.golden_model.layout import Layout
from racetrap.golden_model.sigrace.environment import Environment, Remap
from racetrap.golden_model.sigrace.packets import (
    CoreEvent,
    CoreOp,
    CoreStep,
    RdmStep,
    RdmStepKind,
)
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.trace.threads.schema import THREAD_DTYPE
from racetrap.sim.cosim.comparison.mismatch import Mismatch, difference
from racetrap.sim.cosim.fast.packing import nested, pack_records, unpack_column, unpack_records
from racetrap.sim.cosim.sigrace.fast_compare import RunResult
from racetrap.sim.cosim.sigrace.fast_simulation import FastSim, Program, Stop
from racetrap.sim.cpu.sigrace.compiled_sigrace import prepare_sigrace
from racetrap.sim.cpu.sigrace.core_stream import EVENT_COLUMNS, STEP_COLUMNS, CoreStream


def awaited_releases(steps: np.ndarray, other: int, released: np.ndarray, place: int) -> np.ndarray:
    """Rows of ``Stop``: acquires of a thread that learn of releases of another one.

    Parameters
    ----------
    steps, released : numpy.ndarray
        Steps of the core units of both, as of ``CoreStream.steps``.
    other, place : int
        The other thread, and its context.
    """
    syncs = np.flatnonzero(steps["op"] == CoreOp.SYNC_REACHED)
    learns = np.flatnonzero((steps["op"] == CoreOp.TS_WRITE) & (steps["index"] == other))
    releases = np.flatnonzero(released["op"] == CoreOp.SYNC_REACHED)
    times, learned = released["own"][releases], steps["data"][learns]
    found = np.searchsorted(times, learned)
    known = found < len(times)
    known[known] = times[found[known]] == learned[known]  # the others lie in an earlier run
    rows = np.zeros((int(known.sum()), len(Stop._fields)), np.uint64)
    rows[:, Stop._fields.index("event")] = syncs[np.searchsorted(syncs, learns[known]) - 1]
    rows[:, Stop._fields.index("unit")] = place
    rows[:, Stop._fields.index("events")] = releases[found[known]] + 1
    return rows


class StreamCompare:
    """Comparison of a system after reset that runs one program.

    Parameters
    ----------
    sim : FastSim
        The hardware.
    params : SigraceParams
        Its parameters.
    threads : int
        Threads of the program, each on its own context.
    paced : bool
        Let each core commit an instruction a cycle, and wait for the synchronisations that its
        thread waited for; else cores run as fast as their units take events.

    Raises
    ------
    ValueError
        If the machine has too few contexts.
    """

    def __init__(
        self, sim: FastSim, params: SigraceParams, threads: int, *, paced: bool = False
    ) -> None:
        self._sim, self._params, self._is_paced = sim, params, paced
        Environment().check_threads(threads, self._params)
        self._stream = CoreStream(prepare_sigrace(), self._params, threads)
        self._units = []
        sim.rdm.control()
        for thread, (core, context) in enumerate(Environment().slots(self._params)[:threads]):
            self._units.append(core * self._params.contexts + context)
            sim.rdm.remap(Remap(core, context, thread))

    def flush(self) -> None:
        """Empty all queues."""
        self._sim.rdm.flush()
        self._stream.flush()

    def clear_log(self) -> None:
        """Empty the conflict log."""
        self._sim.rdm.clear_log()
        self._stream.clear_log()

    def run(self, events: np.ndarray) -> RunResult:
        """Play the program's next events, records of ``THREAD_DTYPE``, and compare everything.

        Raises
        ------
        Mismatch
            If hardware and golden model differ.
        SimulationError
            If the simulation cannot continue.
        """
        before = self._stream.counters()
        with garbage_collection_paused():
            count = self._play(np.ascontiguousarray(events, THREAD_DTYPE))
            steps = self._compare_rdm()
        after = self._stream.counters()
        self._compare_registers(after)
        stats = self._sim.stats
        return RunResult(
            count,
            after["messages"] - before["messages"],
            steps,
            after["conflicts"] - before["conflicts"],
            stats.last_event - stats.first_event + 1,
            stats.digest,
        )

    def _play(self, events: np.ndarray) -> int:
        """Run the hardware, and compare the steps of its core units; return their number."""
        params = self._params
        self._stream.take(events)
        columns = [self._stream.steps(thread) for thread in range(len(self._units))]
        program = Program([()] * (params.cores * params.contexts))
        for unit, steps in zip(self._units, columns, strict=True):
            own = [steps[name] for name in EVENT_COLUMNS]
            program.events[unit] = pack_records(params.event_layout, own)
        if self._is_paced:
            self._set_pace(program, columns)
        self._sim.run(program, self._stream.messages, 0)
        self._sim.rdm.wait_idle()
        for unit, steps in zip(self._units, columns, strict=True):
            self._compare(unit, steps)
        return sum(map(len, columns))

    def _set_pace(self, program: Program, columns: Sequence[np.ndarray]) -> None:
        """Give each event its instructions, and each acquire the releases that it learns of."""
        units = range(self._params.cores * self._params.contexts)
        program.paces = [np.zeros(0, np.uint32) for _ in units]
        program.stops = [[] for _ in units]
        for unit, steps in zip(self._units, columns, strict=True):
            program.paces[unit] = steps["instructions"].astype(np.uint32)
            program.stops[unit] = np.concatenate([
                awaited_releases(steps, other, columns[other], place)
                for other, place in enumerate(self._units)
            ])  # fmt: skip
            rows = program.stops[unit]
            program.stops[unit] = rows[np.argsort(rows[:, 0], kind="stable")]

    def _compare_rdm(self) -> int:
        """Compare the steps of the RDM; return their number."""
        params, layout = self._params, self._params.rdm_step_layout
        seen = self._sim.rdm_words()
        core, context = (unpack_column(layout, seen, name) for name in ("core", "context"))
        ends = unpack_column(layout, seen, "kind") != int(RdmStepKind.COMPARE)
        threads = {unit: thread for thread, unit in enumerate(self._units)}
        units = (core * np.uint64(params.contexts) + context)[ends].tolist()
        order = np.array([threads.get(unit, len(threads)) for unit in units], np.uint32)
        try:
            golden = pack_records(layout, self._stream.take_messages(order))
        except ValueError as error:
            raise Mismatch(f"RDM: {error}") from None
        if self._stream.messages:
            raise Mismatch(f"RDM: {self._stream.messages} messages must come, but are missing")
        self._compare_words("RDM", layout, RdmStep, seen[self._order(seen)], golden)
        return len(golden)

    def _order(self, seen: np.ndarray) -> np.ndarray:
        """Order in which the golden model makes the steps seen.

        Each scanner makes those of its queues in order: by thread, newest entry first.
        """
        layout = self._params.rdm_step_layout
        other, kind = (unpack_column(layout, seen, name) for name in ("other", "kind"))
        ends = kind != int(RdmStepKind.COMPARE)
        return np.lexsort((other, ends, np.cumsum(ends) - ends))

    def _compare_registers(self, golden: dict[str, int]) -> None:
        """Compare conflict log, reasons of a rollback, and counters."""
        rdm = self._sim.rdm
        seen = rdm.counters() | {"reasons": rdm.status()["reasons"]}
        for name in golden.keys() & seen.keys():
            if seen[name] != golden[name]:
                raise Mismatch(f"Register {name} must be {golden[name]}, not {seen[name]}")
        log, expected = rdm.log(), self._stream.log()
        if log != expected:
            raise Mismatch(f"Conflict log must be {expected}, not {log}")

    def _compare(self, unit: int, steps: np.ndarray) -> None:
        """Compare the steps of a core unit, which must have no trap records."""
        layout = self._params.core_step_layout
        golden = pack_records(layout, [steps[name] for name in STEP_COLUMNS])
        place = "Core {}, context {}".format(*divmod(unit, self._params.contexts))
        step = nested(CoreStep, CoreEvent)
        self._compare_words(place, layout, step, self._sim.core_words(unit), golden)
        if self._sim.traps(unit):
            raise Mismatch(f"{place}: no trap record must come in Normal mode")

    @staticmethod
    def _compare_words(
        place: str, layout: Layout, step: Callable[..., Any], seen: np.ndarray, golden: np.ndarray
    ) -> None:
        """Compare rows; the error names the first different row with its fields."""
        count = min(len(seen), len(golden))
        rows = np.flatnonzero((seen[:count] != golden[:count]).any(axis=1))
        if len(rows):
            pair = np.stack([seen[rows[0]], golden[rows[0]]])
            both = map(step, *unpack_records(layout, pair))
            raise Mismatch(f"{place}, step {rows[0]}: {difference('step', *both)}")
        if len(seen) != len(golden):
            raise Mismatch(f"{place}: steps must number {len(golden)}, not {len(seen)}")
