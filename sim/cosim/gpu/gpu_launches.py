"""Launches of a GPU detector in the fast simulation, and its memories.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from ctypes import POINTER, c_int, c_uint32, c_uint64, c_void_p
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.gpu.valid_table import clearing_cycles, is_covered
from racetrap.sim.compiled_library import Functions
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.packing import (
    pack_tuples,
)
from racetrap.sim.cosim.fast.simulation import Simulation, SimulationError
from racetrap.sim.cosim.gpu.gpu_software import GpuSoftware
from racetrap.sim.cosim.gpu.sweep import is_swept, sweep_jumps
from racetrap.sim.gpu.timing.detector_ports import PORT_TWINS, SliceCycle, SmCycle

#: Bits of a memory's word, and such words of a report.
WORD_BITS, RECORD_WORDS = 64, 4
RECORD_BYTES = 8 * RECORD_WORDS
#: Log2 of what counters begin with, so small that none reaches its largest value.
_COUNTED_LOG2 = 31

#: Functions of shim.cpp besides those of every library.
_FUNCTIONS: Functions = {
    "sim_metadata": (None, [c_void_p, c_uint64, c_void_p, c_uint64]),
    "sim_preset": (None, [c_void_p, c_uint64, c_uint64, c_uint64]),
    "sim_jumps": (None, [c_void_p, c_uint32, c_void_p, c_uint64, c_void_p, c_uint64]),
    "sim_reached": (c_uint64, [c_void_p, c_void_p, c_uint64]),
    "sim_entries": (None, [c_void_p, c_void_p, c_uint64, c_void_p]),
    "sim_ring": (None, [c_void_p, c_uint64, c_void_p, c_uint64]),
    "sim_transactions": (None, [c_void_p, c_uint32, c_void_p, c_void_p, c_uint64]),
    "sim_prepare": (None, [c_void_p]),
    "sim_run": (c_int, [c_void_p, c_uint64]),
    "sim_begin": (c_int, [c_void_p, c_uint64]),
    "sim_reset": (None, [c_void_p]),
    "sim_interrupt": (c_int, [c_void_p]),
    "sim_cycle": (c_int, [c_void_p, POINTER(SmCycle), POINTER(SliceCycle)]),
    "sim_advance_counters": (None, [c_void_p, c_void_p]),
    "sim_set_head": (None, [c_void_p, c_uint32]),
    "sim_look": (None, [c_void_p]),
    "sim_look_at_busy": (None, [c_void_p]),
    "sim_forget": (None, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sim_stop": (None, [c_void_p]),
}


def entry_words(params: GpuParams) -> int:
    """64-bit words of a metadata entry."""
    return params.entry_bits // WORD_BITS


class SimStats(NamedTuple):
    """Cycles since the beginning, a digest of all transfers with their cycles, and error responses
    to metadata reads, metadata writes and writes to the report ring."""

    cycles: int
    digest: int
    read_errors: int
    write_errors: int
    report_errors: int


def write_errors(before: SimStats, after: SimStats) -> dict[str, int]:
    """Counters of write error responses between two points in time."""
    return {
        "metadata_write_errors": after.write_errors - before.write_errors,
        "report_write_errors": after.report_errors - before.report_errors,
    }


class GpuLaunches(Simulation[MemoryTiming, SimStats]):
    """Launches of a system, before transactions or amid them, with memories behind its ports.

    Parameters
    ----------
    model : FastModel
        Library from ``build_fast``.
    seed : int
        Seed of all randomness in the simulation, including unreset state.
    timing : MemoryTiming
        Timing of SMs and memories; may be changed between runs.

    Raises
    ------
    SimulationError
        From every method that advances time.
    """

    #: Functions of the shim.
    functions: ClassVar[Functions] = _FUNCTIONS

    def __init__(self, model: FastModel[Any], seed: int = 0, timing: MemoryTiming | None = None):
        super().__init__(
            model, seed, self.functions, timing or MemoryTiming(), SimStats, PORT_TWINS
        )
        self._params: GpuParams = model.params
        self._places = model.places
        self._entry_words = entry_words(self._params)
        self._software = GpuSoftware(self, self._wait_until)
        self._junk = np.random.default_rng(seed)
        self._is_preset = self._may_interrupt = self._is_offered = self._is_outside = False
        #: Whether the last launch suppresses repeated reports.
        self.filters_reports = False
        self._counted: defaultdict[str, int] = defaultdict(int)

    def read(self, register: str) -> int:
        """A register; a counter has what it has counted since the launch."""
        return super().read(register) - self._counted[register]

    def counters(self) -> dict[str, int]:
        """All event counters, by register name in lower case."""
        return self._software.counters()

    def launch(
        self,
        region: MonitoredRegion,
        capacity_log2: int = 10,
        report_filter: bool = False,
        sweep: bool = False,
        waiting: Sequence[NDArray[np.uint32]] = (),
    ) -> None:
        """Clear the counters and launch a kernel on fresh memories.

        They are filled with random values, which the launch overwrites, or which a table of valid
        segments keeps from being read; metadata of a large region outside the table are preset
        instead (``racetrap.sim.cosim.gpu.sweep``).

        Parameters
        ----------
        region : MonitoredRegion
            Monitored region.
        capacity_log2 : int
            Log2 of the records in the report ring.
        report_filter : bool
            Whether repeated reports are suppressed.
        sweep : bool
            Let the hardware write all metadata, however large the region.
        waiting : sequence of array of uint32
            Transactions of each SM that it offers while the launch lasts; the run begins with them.
        """
        if self._is_outside:  # reports may still be on their way
            self._software.wait_idle()
        self._is_outside = False
        last_base = (1 << self._params.address_bits) - (RECORD_BYTES << capacity_log2)
        # Anywhere, often at the very end: the ring has a memory of its own.
        ring_base = RECORD_BYTES * int(self._junk.integers(0, last_base // RECORD_BYTES + 1))
        ring_base = last_base if self._junk.integers(0, 4) == 0 else ring_base
        entries = region.entries(self._params)
        has_all = self._places is None or self._places.are_all or self._params.local_bytes
        self._is_preset = not (has_all and (sweep or is_swept(self._params, region)))
        if self._is_preset:
            self._buffers.pop("metadata", None)
            self._preset(region)
        else:
            self._memory("metadata", region.metadata_base, entries * self._entry_words)
        self._memory("ring", ring_base, RECORD_WORDS << capacity_log2)
        self._library.sim_set_head(self._sim, int(self._near_powers(1)[0]))
        self._software.set_up(region, ring_base, capacity_log2)
        self.filters_reports = report_filter
        self._may_interrupt = bool(self._junk.integers(0, 2))
        self._is_offered = bool(waiting)
        if not self._software.launch(
            report_filter=report_filter,
            interrupt=self._may_interrupt,
            meanwhile=lambda: self._offer(waiting),
        ):
            raise SimulationError(f"Launch must take the region, not refuse {region}")
        self._advance_counters()

    def begin(
        self, region: MonitoredRegion, transactions: Sequence[tuple[int, Any]], capacity_log2: int,
        report_filter: bool, sweep: bool, waiting: bool, amid: int,
    ) -> tuple[Sequence[tuple[int, Any]], list[NDArray[np.uint32]]]:  # fmt: skip
        """Launch a kernel before its transactions, or amid them.

        Parameters
        ----------
        region, capacity_log2, report_filter, sweep
            As of ``launch``; without effect amid transactions.
        transactions : sequence of (int, Transaction)
            SM and transaction, in the program's global order.
        waiting : bool
            Whether SMs offer their transactions while the launch lasts.
        amid : int
            Cycles of transactions before the launch; 0: none.

        Returns
        -------
        sequence of (int, Transaction)
            Transactions of the launch.
        list of array of uint32
            The same for each SM, as ``queues`` packs them.
        """
        if amid:
            first = self.launch_amid(transactions, amid)
            for sm, words in enumerate(self.queues(transactions)):
                self._load(sm, words, None)
            self._is_offered = True
            return [*first, *transactions], self.queues([*first, *transactions])
        queues = self.queues(transactions)
        self.launch(region, capacity_log2, report_filter, sweep, queues if waiting else ())
        return transactions, queues

    def launch_amid(
        self, transactions: Sequence[tuple[int, Any]], cycles: int
    ) -> list[tuple[int, Any]]:
        """Launch once more in the same region and ring, while transactions are played.

        Parameters
        ----------
        transactions : sequence of (int, Transaction)
            SM and transaction; what may not come first in a launch is left out.
        cycles : int
            Cycles before the launch.

        Returns
        -------
        list of (int, Transaction)
            Those that SMs offered in vain before the launch, which are its first.
        """
        played = [each for each in transactions if self.may_come_first(each[1])]
        self._offer(self.queues(played))
        self._must(not self._library.sim_begin(self._sim, cycles))
        self._library.sim_stop(self._sim)
        self._software.launch_again(lambda: self._library.sim_look(self._sim), self._look_at_busy)
        # What has been held back is taken.
        self._must(not self._library.sim_run(self._sim, 0))
        taken, offered = (np.zeros(self._params.sm_count, dtype=np.uint64) for _ in range(2))
        counted = np.zeros(len(self.map.counters), dtype=np.uint32)
        self._library.sim_forget(
            self._sim, taken.ctypes.data, offered.ctypes.data, counted.ctypes.data
        )
        self._advance_counters(counted)
        of_sm: list[list[Any]] = [[] for _ in taken]
        for sm, transaction in played:
            of_sm[sm].append(transaction)
        return [
            (sm, transaction) for sm, each in enumerate(of_sm)
            for transaction in each[int(taken[sm]) : int(offered[sm])]
        ]  # fmt: skip

    def may_come_first(self, transaction: Any) -> bool:
        """Whether a launch may begin with a transaction, of a block that has not started in it."""
        return True

    def _look_at_busy(self) -> None:
        self._library.sim_look_at_busy(self._sim)
        self._software.read_records(lambda place: 0)  # of before the launch

    def _advance_counters(self, counted: NDArray[np.uint32] | int = 0) -> None:
        """Let the counters count on from random values, shortly before a power of two, which shows
        all of their bits; they have ``counted`` what is none of the launch's."""
        names = self.map.counters
        values = self._near_powers(len(names))
        self._library.sim_advance_counters(self._sim, values.ctypes.data)
        before = (values + counted).tolist()
        self._counted = defaultdict(int, zip(names, before, strict=True))

    def _near_powers(self, count: int) -> NDArray[np.uint32]:
        """Random numbers whose low bits are those shortly before a power of two."""
        values = self._junk.integers(0, 1 << _COUNTED_LOG2, size=count, dtype=np.uint32)
        ones = 1 << self._junk.integers(0, _COUNTED_LOG2, size=count, dtype=np.uint32)
        return values | np.maximum(ones, _COUNTED_LOG2) - self._junk.integers(
            1, _COUNTED_LOG2, size=count, dtype=np.uint32
        )

    def _preset(self, region: MonitoredRegion) -> None:
        """Metadata of a large region, most of which the sweep jumps over."""
        params, words_each = self._params, self._entry_words * self._params.words_per_cycle
        there = range(params.metadata_ports) if self._places is None else self._places.ports
        for port in there:
            jumps, segments = sweep_jumps(params, region, port)
            swept = [words_each * segment + word for segment in segments
                     for word in range(words_each)]  # fmt: skip
            pairs = self._buffers["jumps", port] = np.array(jumps, dtype=np.uint64)
            words = self._buffers["swept", port] = np.array(swept, dtype=np.uint64)
            self._library.sim_jumps(
                self._sim, port, pairs.ctypes.data, len(jumps), words.ctypes.data, len(words)
            )
        preset = params.uninitialised_entry
        if is_covered(params, region):
            preset = int(self._junk.integers(0, 1 << 64, dtype=np.uint64))
        self._library.sim_preset(
            self._sim, region.metadata_base, preset, region.entries(params) * self._entry_words
        )

    def is_refused(self, region: MonitoredRegion, ring_base: int, ring_log2: int) -> bool:
        """Whether the hardware refuses a launch with such a region and ring."""
        self._software.set_up(region, ring_base, ring_log2)
        return not self._software.launch()

    def _wait_until(self, is_done: Callable[[], bool], what: str) -> None:
        # The limit must cover that a launch writes every entry.
        swept = len(self._buffers.get("metadata", ()))
        cycles = self._timing.watchdog + 100 * swept + clearing_cycles(self._params)
        self._wait(is_done, what, cycles)

    def _memory(self, name: str, base: int, count: int) -> None:
        words = self._junk.integers(0, 1 << 64, size=count, dtype=np.uint64)
        self._buffers[name] = words
        set_memory = getattr(self._library, f"sim_{name}")
        set_memory(self._sim, base, words.ctypes.data, count)

    def queues(
        self, transactions: Iterable[tuple[int, tuple[int, ...]]]
    ) -> list[NDArray[np.uint32]]:
        """Packed transactions of each SM, in its order, from pairs of SM and transaction."""
        of_sm: list[list[tuple[int, ...]]] = [[] for _ in range(self._params.sm_count)]
        for sm, transaction in transactions:
            of_sm[sm].append(transaction)
        return [pack_tuples(self._params.transaction_layout, each) for each in of_sm]

    def forget_steps(self) -> None:
        """Forget the steps of all banks so far, as a run does."""
        self._library.sim_prepare(self._sim)

    def _offer(
        self,
        queues: Sequence[NDArray[np.uint32]],
        order: Sequence[Sequence[tuple[int, int]]] | None = None,
    ) -> None:
        self.forget_steps()
        for sm, words in enumerate(queues):
            self._load(sm, words, None if order is None else order[sm])

    def _load(
        self,
        sm: int,
        words: NDArray[np.uint32],
        order: Sequence[tuple[int, int]] | None,
    ) -> None:
        gates = np.array(order or [], dtype=np.uint64)
        self._buffers["transactions", sm], self._buffers["order", sm] = words, gates
        self._library.sim_transactions(
            self._sim, sm, words.ctypes.data, gates.ctypes.data if order else None,
            len(words),
        )  # fmt: skip
