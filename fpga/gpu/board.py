"""Board of a GPU detector: launches, transactions in the trace's order, reports back.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from racetrap.fpga.host.client import LinkError
from racetrap.fpga.host.linked_board import RING_LOG2, LinkedBoard
from racetrap.fpga.host.session import Session, wait_until
from racetrap.golden_model.events import Event
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region import Region
from racetrap.sim.cosim.gpu.gpu_software import GpuSoftware


def largest_region(params: GpuParams) -> Region:
    """The largest region of a device, from the middle of the address space."""
    half = params.address_bits - 1
    return Region(1 << half, min(half, params.max_region_log2))


class GpuBoard(LinkedBoard):
    """A detector behind a link, which sees transactions in one global order.

    The detector takes transactions of different SMs in the order in which they arrive.  Those of
    one SM keep their order in its channel; before another SM continues, everything pushed so far is
    finished.

    Parameters
    ----------
    session : Session
        Conversation with the device.
    params : GpuParams
        Its configuration.

    Attributes
    ----------
    split : callable
        Gives the transactions of an event for the tracker of its SM.
    report : type of RingReport
        The detector's reports.
    pull_every : int
        Transactions after which reports are fetched even from an idle detector: half the capacity
        of a board's queues, if each has a race.
    pushed : int
        Transactions pushed.

    Raises
    ------
    LinkError
        From every method, if the device fails or refuses.
    """

    split: ClassVar[Callable[[Event, Any], Iterable[Any]]]
    report: ClassVar[Any]
    pull_every = 8

    def __init__(self, session: Session, params: GpuParams):
        self._params, self._software = params, GpuSoftware(session, wait_until)
        super().__init__(session, self._software, self.pull_every)
        self._batch: list[int] = []
        self._sm = 0
        self.pushed = 0

    def launch(self, region: Region) -> None:
        """Clear the counters and launch a kernel, after everything before it."""
        self._set_up(region)
        if not self._software.launch():
            raise LinkError(f"Device refused region {region}")

    def _set_up(self, region: Region) -> None:
        self._software.set_up(region, 1 << (self._params.address_bits - 1), RING_LOG2)

    def discard(self) -> None:
        """Finish and clear the state of an earlier run in the device."""
        self._empty_ring()
        self._session.settle()
        self.finish()
        self._records.clear()

    def play(self, event: Event) -> None:
        """Push the transactions of an event; reports of earlier ones may arrive."""
        for transaction in type(self).split(event, self._params):
            self._transact(event.sm, transaction)

    def _transact(self, sm: int, transaction: Any) -> None:
        most = min(self._session.room, self.pull_every)
        if self._batch and (sm != self._sm or len(self._batch) == most):
            self._send()
        if sm != self._sm:
            self._drain(self._sm)
        self._sm = sm
        self._batch.append(self._params.transaction_layout.pack(transaction._asdict()))

    def finish(self) -> None:
        """Wait until everything pushed is finished, and fetch the reports."""
        self._send()
        self._drain(self._sm)
        self._pull()

    def reports(self) -> list[Any]:
        """Reports since the last call, oldest first."""
        reports = [self.report.from_record(record) for record in self._records]
        self._records.clear()
        return reports

    def counters(self) -> dict[str, int]:
        """The counters that the device has, by name."""
        return self._software.counters()

    def _send(self) -> None:
        self._session.push(self._sm, self._batch)
        count = len(self._batch)
        self.pushed += count
        self._batch.clear()
        self._pull_after(count)
