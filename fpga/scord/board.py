"""A ScoRD board: a whole system, or a core.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from racetrap.fpga.gpu.board import GpuBoard, largest_region
from racetrap.fpga.host.client import LinkError
from racetrap.fpga.host.session import Session
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.scord.coalescer import coalesce
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport


def monitored_region(session: Session, params: ScordParams, wanted: Region) -> Region:
    """The region that a device monitors for a trace that requests ``wanted``.

    A whole system monitors the region set by software; a core always the largest.

    Raises
    ------
    ValueError
        If the region of a core does not hold the trace's.
    LinkError
        If the device fails.
    """
    if not _is_core(session):
        return wanted
    fixed = largest_region(params)
    end = wanted.data_base + (1 << wanted.size_log2)
    if wanted.data_base < fixed.data_base or end > fixed.data_base + (1 << fixed.size_log2):
        raise ValueError(f"Region of the trace must lie in the core's {fixed}, not be {wanted}")
    return fixed


def _is_core(session: Session) -> bool:
    return not session.has("REPORT_HEAD")


class ScordBoard(GpuBoard):
    """As ``GpuBoard``; a core has no ring, no region registers and one counter.

    It holds only its bank's queue of reports.
    """

    split, report = coalesce, RaceReport

    def __init__(self, session: Session, params: ScordParams):
        self._is_core = _is_core(session)
        if self._is_core:
            self.pull_every = 1
        super().__init__(session, params)

    def _set_up(self, region: Region) -> None:
        if not self._is_core:
            super()._set_up(region)
        elif region != (fixed := largest_region(self._params)):
            raise LinkError(f"Region must be the core's {fixed}, not {region}")

    def _empty_ring(self) -> None:
        if not self._is_core:
            super()._empty_ring()

    def counters(self) -> dict[str, int]:
        """The counters that the device has, by name."""
        if self._is_core:
            return {"reports_dropped": self._session.read("REPORTS_DROPPED")}
        return super().counters()
