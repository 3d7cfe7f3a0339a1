"""A ScoRD board: launches, transactions in the trace's order, reports back.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from racetrap.fpga.host.client import LinkError
from racetrap.fpga.host.linked_board import RING_LOG2, LinkedBoard
from racetrap.fpga.host.session import Session, wait_until
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.packets import Transaction
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.sim.cosim.gpu.gpu_software import GpuSoftware

#: Transactions after which reports are fetched even from an idle detector: half the capacity of a
#: board's queues, if each has a race.  A core holds only its bank's queue.
_PULL_EVERY, _PULL_EVERY_FROM_CORE = 8, 1


def core_region(params: ScordParams) -> Region:
    """The region that a core monitors: the largest from the middle of the address space."""
    half = params.address_bits - 1
    return Region(1 << half, min(half, params.max_region_log2))


def monitored_region(session: Session, params: ScordParams, wanted: Region) -> Region:
    """The region that a device monitors for a trace that requests ``wanted``.

    A whole system monitors the region set by software; that of a core is fixed.

    Raises
    ------
    ValueError
        If the region of a core does not hold the trace's.
    LinkError
        If the device fails.
    """
    if not _is_core(session):
        return wanted
    fixed = core_region(params)
    end = wanted.data_base + (1 << wanted.size_log2)
    if wanted.data_base < fixed.data_base or end > fixed.data_base + (1 << fixed.size_log2):
        raise ValueError(f"Region of the trace must lie in the core's {fixed}, not be {wanted}")
    return fixed


def _is_core(session: Session) -> bool:
    return not session.has("REPORT_HEAD")


class ScordBoard(LinkedBoard):
    """A detector behind a link, which sees transactions in one global order.

    The detector takes transactions of different SMs in the order in which they arrive.  Those of
    one SM keep their order in its channel; before another SM continues, everything pushed so far is
    finished.  A core has no ring, no region registers and one counter; the rest of the protocol is
    that of a whole system.

    Parameters
    ----------
    session : Session
        Conversation with the device.
    params : ScordParams
        Its configuration.

    Attributes
    ----------
    pushed : int
        Transactions pushed.

    Raises
    ------
    LinkError
        From every method, if the device fails or refuses.
    """

    def __init__(self, session: Session, params: ScordParams):
        self._params, self._software = params, GpuSoftware(session, wait_until)
        self._is_core = _is_core(session)
        pull_every = _PULL_EVERY_FROM_CORE if self._is_core else _PULL_EVERY
        super().__init__(session, self._software, pull_every)
        self._batch: list[int] = []
        self._sm = 0
        self.pushed = 0

    def launch(self, region: Region) -> None:
        """Clear the counters and launch a kernel, after everything before it."""
        if not self._is_core:
            ring_base = 1 << (self._params.address_bits - 1)
            self._software.set_up(region, ring_base, RING_LOG2)
        elif region != core_region(self._params):
            raise LinkError(f"Region must be the core's {core_region(self._params)}, not {region}")
        if not self._software.launch():
            raise LinkError(f"Device refused region {region}")

    def _empty_ring(self) -> None:
        if not self._is_core:
            super()._empty_ring()

    def discard(self) -> None:
        """Finish and clear the state of an earlier run in the device."""
        self._empty_ring()
        self._session.settle()
        self.finish()
        self._records.clear()

    def transact(self, sm: int, transaction: Transaction) -> None:
        """Push a transaction; reports of earlier ones may arrive."""
        most = min(self._session.room, self._pull_every)
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

    def reports(self) -> list[RaceReport]:
        """Reports since the last call, oldest first."""
        reports = [RaceReport.from_record(record) for record in self._records]
        self._records.clear()
        return reports

    def counters(self) -> dict[str, int]:
        """The counters that the device has, by name."""
        if self._is_core:
            return {"reports_dropped": self._session.read("REPORTS_DROPPED")}
        return self._software.counters()

    def _send(self) -> None:
        self._session.push(self._sm, self._batch)
        count = len(self._batch)
        self.pushed += count
        self._batch.clear()
        self._pull_after(count)
