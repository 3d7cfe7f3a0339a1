"""Detector bank: the entries of its words behind a metadata port, and the state machine on them.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from amaranth.lib.wiring import connect

from racetrap.rtl.gpu.detector_bank import GpuDetectorBank
from racetrap.rtl.hirace.check_lane import CheckLane
from racetrap.rtl.hirace.entry_locator import EntryLocator


class DetectorBank(GpuDetectorBank):
    """HiRace's bank, alone behind its metadata port."""

    lane = CheckLane

    def _elaborate_location(self, m, fifo, accessor):
        m.submodules.locator = locator = EntryLocator(self._params)
        connect(m, fifo.o, locator.i)
        connect(m, locator.o, accessor.i)
        statements = [
            locator.i_region.eq(self.i_region),
            accessor.i_entries_log2.eq(locator.o_entries_log2),
        ]
        return statements, ~locator.o.valid, []
