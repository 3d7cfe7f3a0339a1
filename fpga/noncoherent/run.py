"""A trace of a CPU and its accelerators on a bus monitor's board, against the golden model.

Ref: Young (UBC 2020) Section 3.3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from racetrap.fpga.host.client import reached
from racetrap.fpga.host.linked_board import RING_LOG2, LinkedBoard
from racetrap.fpga.host.session import Session, wait_until
from racetrap.golden_model.noncoherent.monitor import Monitor
from racetrap.golden_model.noncoherent.packets import (
    BusOperation,
    MonitorStep,
    bus_operation,
    rows_of,
)
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import Operation
from racetrap.sim.cosim.noncoherent.monitor_software import MonitorSoftware
from racetrap.sim.cosim.noncoherent.report_compare import compare_reports

_CHANNEL = 0  # of operations


@dataclass(frozen=True)
class OperationRun:
    """Amounts of a trace on a board; everything was compared.

    Parameters
    ----------
    steps : tuple of MonitorStep
        Steps of the golden model.
    reports : int
        Records received.
    counters : dict of str to int
        The monitor's counters by name.
    operations : int
        Operations of the trace.
    seconds : float
        Total time.
    """

    steps: tuple[MonitorStep, ...]
    reports: int
    counters: dict[str, int]
    operations: int
    seconds: float


class _Board(LinkedBoard):
    """A monitor behind a link."""

    def __init__(self, session: Session, params: NoncoherentParams, pull_every: int):
        self._params, self._software = params, MonitorSoftware(session, wait_until)
        super().__init__(session, self._software, pull_every)

    @property
    def records(self) -> list[int]:
        """Records of reports since the start."""
        return self._records

    def start(self) -> None:
        """Clear the state of an earlier run, and check from now on."""
        self._session.settle()
        self.finish()
        self._records.clear()
        self._software.start(1 << (self._params.address_bits - 1), RING_LOG2, interrupt=True)

    def push(self, operations: list[BusOperation]) -> None:
        layout = self._params.operation_layout
        self._session.push(_CHANNEL, [layout.pack(one._asdict()) for one in operations])
        self._pull_after(len(operations))

    def finish(self) -> None:
        """Wait until everything pushed is checked, and fetch the reports."""
        self._drain(_CHANNEL)
        self._pull()

    def counters(self) -> dict[str, int]:
        return self._software.counters()


def run_operations(
    session: Session, params: NoncoherentParams, operations: Iterable[Operation],
    progress: Callable[[int], None] = lambda _: None, *, pull_every: int = 8,
) -> OperationRun:  # fmt: skip
    """Stream operations to a board, and compare every report and counter.

    Parameters
    ----------
    session : Session
        Conversation with the device.
    params : NoncoherentParams
        Its configuration.
    operations : iterable of Operation
        The trace.
    progress : callable
        Called with the number of each operation sent.
    pull_every : int
        Operations after which reports are fetched; by default half the capacity of the board's
        queues, if each races.

    Raises
    ------
    LinkError
        If the device fails; the error says how far it came.
    Mismatch
        If board and golden model differ.
    ValueError
        If the addresses are beyond the parameters'.
    """
    started = time.monotonic()
    board = _Board(session, params, pull_every)
    # All at once, so that errors are found before anything is sent.
    stream = [bus_operation(params, number, one) for number, one in enumerate(operations)]
    steps = tuple(Monitor(params).run(row for one in stream for row in rows_of(params, one)))
    done = 0
    with reached(lambda: f"operation {done}"):
        board.start()
        room = min(session.room, pull_every)
        for done in range(0, len(stream), room):
            progress(done)
            board.push(stream[done : done + room])
        board.finish()
        counters = board.counters()
    compare_reports(params, board.records, stream, steps, counters)
    return OperationRun(
        steps, len(board.records), counters, len(stream), time.monotonic() - started
    )
