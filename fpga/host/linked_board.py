"""Base of boards that report by records, fetched while packets are pushed."""

from __future__ import annotations

from racetrap.fpga.host.session import Session, wait_until
from racetrap.sim.cosim.software.detector_software import DetectorSoftware

#: Log2 of the records that may be in flight before ``REPORT_TAIL`` is advanced.
RING_LOG2 = 10
_REPORTS = 0  # the output channel


class LinkedBoard:
    """A detector behind a link, whose reports go to output channel 0.

    Parameters
    ----------
    session : Session
        Conversation with the device.
    software : DetectorSoftware
        Driver of the detector.
    pull_every : int
        Packets after which reports are fetched even from an idle detector.

    Raises
    ------
    LinkError
        From every method, if the device fails or refuses.
    """

    def __init__(self, session: Session, software: DetectorSoftware, pull_every: int):
        self._session, self._ring, self._pull_every = session, software, pull_every
        self._since_pull = 0
        self._records: list[int] = []

    def _pull_after(self, packets: int) -> None:
        """Count packets that were pushed, and fetch reports if due."""
        self._since_pull += packets
        if self._since_pull >= self._pull_every:
            self._pull()

    def _drain(self, channel: int) -> None:
        """Wait until the device has nothing unfinished.

        Free space shows that the detector has taken everything, its status that it has finished;
        the status alone does not cover records still in the channel.
        """
        self._session.drain(channel)
        wait_until(self._is_idle, "finish what it has taken")

    def _empty_ring(self) -> None:
        """Empty the ring: records are sent over the link."""
        self._ring.empty_ring()

    def _is_idle(self) -> bool:
        if self._ring.is_idle():
            return True
        self._pull()  # reports that cannot leave keep it busy
        return False

    def _pull(self) -> None:
        self._since_pull = 0
        if records := self._session.pull(_REPORTS):
            self._records += records
            self._empty_ring()
