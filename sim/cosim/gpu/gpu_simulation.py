"""Fast simulation of a GPU detector, launch by launch.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.layout import Layout
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.packing import nested, record_at, unpack_column, unpack_records
from racetrap.sim.cosim.gpu.gpu_launches import RECORD_WORDS, WORD_BITS, GpuLaunches
from racetrap.sim.gpu.timing.detector_ports import DetectorPorts

_NUMBER = Layout({"transaction": 32})


class GpuSimulation(GpuLaunches):
    """A system after reset, with memories behind its ports: runs, and what they have done.

    Parameters and errors as for ``GpuLaunches``.

    Attributes
    ----------
    step_type, packet_type : type
        Named tuples of a step and of its packet, from the detector's own class.
    """

    step_type: ClassVar[Any]
    packet_type: ClassVar[Any]

    def run(
        self,
        queues: Sequence[NDArray[np.uint32]],
        steps: Sequence[int],
        order: Sequence[Sequence[tuple[int, int]]] | None = None,
    ) -> None:
        """Play transactions until all are taken, all steps have been seen and the system is idle.

        Parameters
        ----------
        queues : sequence of array of uint32
            Transactions of each SM, in its order, as ``queues`` packs them.
        steps : sequence of int
            Steps that each bank must take; empty if drops decide the number.
        order : sequence of sequence of (int, int), optional
            For each transaction, its number in the global order and the steps of all banks that
            must precede it; without it SMs run freely.
        """
        if not self._is_offered:
            self._offer(queues, order)
        self._is_offered = False
        self._must(not self._library.sim_run(self._sim, sum(steps)))
        self._software.wait_idle()

    def reset_after(self, queues: Sequence[NDArray[np.uint32]], cycles: int) -> None:
        """Play transactions for some cycles, then reset the system in mid-operation.

        Requests that the memories have not answered are discarded; a launch must follow.
        """
        self._offer(queues)
        self._must(not self._library.sim_begin(self._sim, cycles))
        self._library.sim_reset(self._sim)
        self._counted.clear()

    def ignore(self, queues: Sequence[NDArray[np.uint32]]) -> None:
        """Play transactions between a reset and the first launch; all must be taken in vain.

        Raises
        ------
        Mismatch
            If the hardware does anything with one.
        """
        self._software.enable()
        self._offer(queues)
        self._must(not self._library.sim_run(self._sim, 0))
        self._software.wait_idle()
        if any(self.counters().values()) or any(map(self._trace_cycles, range(self._first_taken))):
            raise Mismatch("Transactions between a reset and the first launch must be ignored")

    def detector_ports(self) -> DetectorPorts:
        """The system for a GPU around it that decides each cycle what its ports do.

        Metadata and report ring stay those of the last launch.
        """
        sms, self._is_outside = self._params.sm_count, True
        return DetectorPorts(self._library.sim_cycle, self._sim, sms, self._metadata_ports)

    # Results ----------------------------------------------------------------------------

    def step_words(self, bank: int) -> NDArray[np.uint32]:
        """Steps of the last run on a bank's trace port, each a row of 32-bit words."""
        return self._trace(bank, self._params.step_layout)

    def steps(self, bank: int) -> list[Any]:
        """Steps of the last run on a bank's trace port."""
        columns = unpack_records(self._params.step_layout, self.step_words(bank))
        return list(map(nested(self.step_type, self.packet_type), *columns))

    def step_cycles(self, bank: int) -> list[int]:
        """Cycle, since reset, of each step of the last run on a bank's trace port."""
        return self._trace_cycles(bank)

    def left_out(self, sm: int) -> list[bool]:
        """For each transaction of an SM in the last run, whether its access buffer skipped it."""
        flags = np.zeros(len(self._buffers["transactions", sm]), dtype=bool)
        number = self._params.banks + sm
        flags[self._trace(number, _NUMBER)[:, 0]] = True
        return flags.tolist()

    def read_cycles(self, port: int) -> list[int]:
        """Cycle, since reset, of each segment that a metadata port has read in the last run."""
        return self._trace_cycles(self._params.banks + self._params.sm_count + port)

    def taken_cycles(self, sm: int) -> list[int]:
        """Cycle, since reset, in which each transaction of an SM in the last run was taken.

        Only of a system that shows its SMs their fences in flight.
        """
        return self._trace_cycles(self._first_taken + sm)

    def fencing(self, sm: int) -> tuple[NDArray[np.uint64], list[int]]:
        """Warps of an SM that were shown to have a fence in flight in the last run.

        Returns
        -------
        array of uint64
            Each set of warps that differs from the one before, as a mask; none is the first.
        list of int
            Cycle, since reset, from which on each was shown.
        """
        number = self._first_taken + self._params.sm_count + sm
        layout = Layout({"warps": self._params.warps_per_sm})
        masks = unpack_column(layout, self._trace(number, layout), "warps")
        return masks, self._trace_cycles(number)

    @property
    def _first_taken(self) -> int:
        """Number of the first SM's trace of transactions."""
        return self._params.banks + self._params.sm_count + self._metadata_ports + 1

    @property
    def _metadata_ports(self) -> int:
        """Number of metadata ports with a memory behind them."""
        return 0 if self._params.local_bytes else self._params.metadata_ports

    def entries(self, indices: NDArray[np.uint64]) -> NDArray[Any]:
        """Metadata entries in memory: integers of NumPy's, or of Python's if they are wider."""
        words = np.zeros((len(indices), self._entry_words), dtype=np.uint64)
        self._library.sim_entries(self._sim, indices.ctypes.data, len(indices), words.ctypes.data)
        entries: NDArray[Any] = words[:, 0]
        for place in range(1, self._entry_words):
            entries = entries.astype(object) | words[:, place].astype(object) << WORD_BITS * place
        return entries

    def entry(self, index: int) -> int:
        """Metadata entry in memory."""
        return int(self.entries(np.array([index], dtype=np.uint64))[0])

    @property
    def reached(self) -> list[int] | None:
        """Indices of the entries that the hardware has read or written since the launch.

        None if it has written all of them.
        """
        if not self._is_preset:
            return None
        words = np.zeros(self._library.sim_reached(self._sim, None, 0), dtype=np.uint64)
        self._library.sim_reached(self._sim, words.ctypes.data, len(words))
        return np.unique(words // np.uint64(self._entry_words)).tolist()

    @property
    def ring_records(self) -> int:
        """Records that the report ring holds."""
        return len(self._buffers["ring"]) // RECORD_WORDS

    @property
    def report_fifo_depth(self) -> int:
        """Reports that a bank's FIFO holds."""
        return self._params.report_fifo_depth

    def reports(self) -> list[int]:
        """Records written to the ring since the launch or the last call, oldest first.

        Raises
        ------
        Mismatch
            If the interrupt line does not say whether there are any.
        """
        ring, interrupts = self._buffers["ring"], self._library.sim_interrupt(self._sim)
        found = self._software.read_records(lambda place: record_at(ring, place, RECORD_WORDS))
        self._software.is_idle()  # takes longer than the line, which follows a cycle later
        for when, seen, due in (
            ("before", interrupts, self._may_interrupt and bool(found)),
            ("after", self._library.sim_interrupt(self._sim), False),
        ):
            if seen != due:
                raise Mismatch(
                    f"Interrupt line {when} {len(found)} records are read must be {int(due)}"
                )
        return found
