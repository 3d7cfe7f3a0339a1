"""One instance of the Verilated system, driven a launch at a time.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.scord.packets import Packet, Step, Transaction
from racetrap.golden_model.scord.params import Region, ScordParams
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.packing import pack_records, unpack_records, words_of
from racetrap.sim.cosim.fast.simulation import Simulation, SimulationError, words_at
from racetrap.sim.cosim.scord.fast_library import FUNCTIONS, SimStats, Timing

__all__ = ["FastSim"]

_RECORD_WORDS = 4  # 64-bit words of a report


class FastSim(Simulation[Timing, SimStats]):
    """A system after reset, with memories behind its ports.

    Parameters
    ----------
    model : FastModel
        What ``build_fast`` made.
    seed : int
        Seed of all that is random in the simulated world, junk in unreset state included.
    timing : Timing
        How SMs and memories behave; may be set again between runs.

    Raises
    ------
    SimulationError
        From every method that lets time pass.
    """

    def __init__(self, model: FastModel, seed: int = 0, timing: Timing | None = None):
        super().__init__(model, seed, FUNCTIONS, timing or Timing(), SimStats)
        self._params: ScordParams = model.params
        self._junk = np.random.default_rng(seed)
        self._buffers: dict[object, NDArray] = {}  # what the library points to
        self._head = 0

    def counters(self) -> dict[str, int]:
        """All event counters, by register name in lower case."""
        return self.read_from("ACCESSES")

    # A launch ---------------------------------------------------------------------------

    def launch(self, region: Region, capacity_log2: int = 10, report_filter: bool = False) -> None:
        """Clear the counters and launch a kernel on fresh, junk-filled memories.

        Parameters
        ----------
        region : Region
            Monitored region.
        capacity_log2 : int
            Log2 of the records in the report ring.
        report_filter : bool
            Whether repeated reports are kept back.
        """
        ring_base = 1 << (self._params.address_bits - 1)
        self._memory("metadata", region.metadata_base, region.entries(self._params))
        self._memory("ring", ring_base, _RECORD_WORDS << capacity_log2)
        for name, value in (
            ("DATA_BASE", region.data_base),
            ("METADATA_BASE", region.metadata_base),
            ("REPORT_BASE", ring_base),
        ):
            self.write(f"{name}_LO", value & 0xFFFFFFFF)
            self.write(f"{name}_HI", value >> 32)
        self.write("REGION_SIZE_LOG2", region.size_log2)
        self.write("REPORT_CAPACITY_LOG2", capacity_log2)
        self._head = self.read("REPORT_HEAD")
        self.write("REPORT_TAIL", self._head)
        control = {"enable": 1, "report_filter_enable": int(report_filter)}
        self.write_fields("CONTROL", **control, clear_counters=1)
        self.write_fields("CONTROL", **control, launch=1)
        self._wait("busy", 0)
        if self.field("STATUS", "config_error"):
            raise SimulationError(f"Launch must take the region, not refuse {region}")

    def _wait(self, field: str, value: int) -> None:
        """Poll the status until its ``field`` is ``value``."""
        # A launch writes every entry; that and more has to be done in time.
        patience = self._timing.watchdog + 100 * len(self._buffers["metadata"])
        end = self.stats.cycles + patience
        while self.field("STATUS", field) != value:
            if self.stats.cycles > end:
                raise SimulationError(f"STATUS.{field} must become {value} in {patience} cycles")

    def _memory(self, name: str, base: int, count: int) -> None:
        words = self._junk.integers(0, 1 << 64, size=count, dtype=np.uint64)
        self._buffers[name] = words
        set_memory = getattr(self._library, f"sim_{name}")
        set_memory(self._sim, base, words.ctypes.data, count)

    def run(
        self,
        queues: Sequence[Sequence[Transaction]],
        steps: Sequence[int],
        order: Sequence[Sequence[tuple[int, int]]] | None = None,
    ) -> None:
        """Play transactions until all are taken, all steps have come and the system is idle.

        Parameters
        ----------
        queues : sequence of sequence of Transaction
            What each SM does, in its order.
        steps : sequence of int
            Steps that each bank must take.
        order : sequence of sequence of (int, int), optional
            Of each transaction, its number in the global order and the steps of all banks
            that must come before it is offered; SMs run freely without it.
        """
        for sm, transactions in enumerate(queues):
            self._load(sm, transactions, None if order is None else order[sm])
        if self._library.sim_run(self._sim, sum(steps)):
            raise SimulationError(self._failure())
        self._wait("idle", 1)

    def _load(
        self,
        sm: int,
        transactions: Sequence[Transaction],
        order: Sequence[tuple[int, int]] | None,
    ) -> None:
        layout = self._params.transaction_layout
        columns: list[tuple[int, ...]] = list(zip(*transactions, strict=True))
        columns = columns or [()] * len(layout.fields)
        words = self._buffers["transactions", sm] = pack_records(layout, columns)
        gates = self._buffers["order", sm] = np.array(order or [], dtype=np.uint64)
        self._library.sim_transactions(
            self._sim, sm, words.ctypes.data, gates.ctypes.data if order else None,
            len(transactions),
        )  # fmt: skip

    # Results ----------------------------------------------------------------------------

    def step_words(self, bank: int) -> NDArray[np.uint32]:
        """Steps of the last run on a bank's trace port, each a row of 32-bit words."""
        pointer = self._library.sim_trace(self._sim, bank)
        return words_at(pointer, self.stats.steps[bank], words_of(self._params.step_layout))

    def steps(self, bank: int) -> list[Step]:
        """Steps of the last run on a bank's trace port."""
        columns = unpack_records(self._params.step_layout, self.step_words(bank))
        fields = len(Packet._fields)
        return list(map(Step, map(Packet, *columns[:fields]), *columns[fields:]))

    def entry(self, index: int) -> int:
        """Metadata entry as it stands in memory."""
        return int(self._buffers["metadata"][index])

    def reports(self) -> list[int]:
        """Records written to the ring since the launch or the last call, oldest first."""
        ring = self._buffers["ring"].reshape(-1, _RECORD_WORDS)
        head = self.read("REPORT_HEAD")
        count = (head - self._head) & 0xFFFFFFFF
        records = [ring[(self._head + number) % len(ring)].tobytes() for number in range(count)]
        self._head = head
        self.write("REPORT_TAIL", head)
        return [int.from_bytes(record, "little") for record in records]
