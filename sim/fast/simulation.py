"""One instance of the Verilated system, driven a launch at a time.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref, c_uint32
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.scord.packets import Packet, Step, Transaction
from racetrap.golden_model.scord.params import Region
from racetrap.sim.fast.build import FastModel
from racetrap.sim.fast.library import SimStats, Timing, load_library
from racetrap.sim.fast.packing import pack_records, unpack_records, words_of

__all__ = ["FastSim", "SimulationError"]

_RECORD_WORDS = 4  # 64-bit words of a report
_STATUS_BUSY, _STATUS_IDLE, _STATUS_CONFIG_ERROR = 1 << 0, 1 << 1, 1 << 3
_CONTROL_ENABLE, _CONTROL_FILTER = 1 << 0, 1 << 1
_CONTROL_LAUNCH, _CONTROL_CLEAR_COUNTERS = 1 << 8, 1 << 9


class SimulationError(RuntimeError):
    """The simulated system stood still, broke a memory's protocol or refused a register."""


class FastSim:
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
        self._params = model.params
        self._registers = model.registers
        self._library = load_library(model.library)
        self._sim = self._library.sim_new(seed)
        self._junk = np.random.default_rng(seed)
        self._buffers: dict[object, NDArray] = {}  # what the library points to
        self._head = 0
        self.timing = timing or Timing()

    def __enter__(self) -> FastSim:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the simulation."""
        if self._sim is not None:
            self._library.sim_delete(self._sim)
            self._sim = None

    @property
    def timing(self) -> Timing:
        """How SMs and memories behave."""
        return self._timing

    @timing.setter
    def timing(self, timing: Timing) -> None:
        self._timing = timing
        self._library.sim_knobs(self._sim, byref(timing.structure()))

    @property
    def stats(self) -> SimStats:
        """Figures up to now."""
        stats = SimStats()
        self._library.sim_stats(self._sim, byref(stats))
        return stats

    # Registers --------------------------------------------------------------------------

    def write(self, register: str, value: int) -> None:
        """Write a register by its name."""
        self._check(register, self._library.sim_write(self._sim, self._registers[register], value))

    def read(self, register: str) -> int:
        """Read a register by its name."""
        value = c_uint32()
        address = self._registers[register]
        self._check(register, self._library.sim_read(self._sim, address, byref(value)))
        return value.value

    def _check(self, register: str, response: int) -> None:
        if response < 0:
            raise SimulationError(self._failure())
        if response:
            raise SimulationError(f"Register {register} must answer OKAY, not response {response}")

    def _failure(self) -> str:
        return "Simulation stopped: " + self._library.sim_failure(self._sim).decode()

    def counters(self) -> dict[str, int]:
        """All event counters, by register name in lower case."""
        return {
            name.lower(): self.read(name)
            for name, address in self._registers.items()
            if address >= self._registers["ACCESSES"]
        }

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
        control = _CONTROL_ENABLE | _CONTROL_FILTER * report_filter
        self.write("CONTROL", control | _CONTROL_CLEAR_COUNTERS)
        self.write("CONTROL", control | _CONTROL_LAUNCH)
        if self._wait(_STATUS_BUSY, 0) & _STATUS_CONFIG_ERROR:
            raise SimulationError(f"Launch must take the region, not refuse {region}")

    def _wait(self, mask: int, value: int) -> int:
        """Poll the status until its bits ``mask`` are ``value``; gives the status."""
        # A launch writes every entry; that and more has to be done in time.
        patience = self._timing.watchdog + 100 * len(self._buffers["metadata"])
        end = self.stats.cycles + patience
        while (status := self.read("STATUS")) & mask != value:
            if self.stats.cycles > end:
                raise SimulationError(f"Status must not stay {status:#x} for {patience} cycles")
        return status

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
        for bank, count in enumerate(steps):
            # One more than expected, so that an unexpected step is seen, not lost.
            width = words_of(self._params.step_layout)
            words = np.zeros((count + 1, width), dtype=np.uint32)
            self._buffers["trace", bank] = words
            self._library.sim_trace(self._sim, bank, words.ctypes.data, count + 1)
        if self._library.sim_run(self._sim, sum(steps)):
            raise SimulationError(self._failure())
        self._wait(_STATUS_IDLE, _STATUS_IDLE)

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
        words = self._buffers["trace", bank]
        return words[: min(self.stats.steps[bank], len(words))]

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
