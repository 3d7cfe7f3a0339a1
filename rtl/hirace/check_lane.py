"""Check lane: a bank's part of a metadata port, from packets with entries to steps and reports.

Ref: HiRace (SC'24): the word names the thread of the previous access.
"""

from __future__ import annotations

from racetrap.golden_model.hirace.detector_bank import COUNTERS
from racetrap.golden_model.hirace.packets import RaceKind
from racetrap.rtl.gpu.check_lane import RaceLane
from racetrap.rtl.hirace.check_pipeline import CheckPipeline


class CheckLane(RaceLane):
    """Check lane with HiRace's pipeline; a launch has nothing to clear in it."""

    pipeline, race_kinds = CheckPipeline, RaceKind

    @classmethod
    def pulses(cls, params):
        return dict.fromkeys((*COUNTERS, "reports_dropped"), 1)

    def _counted(self, m, pipeline):
        step = pipeline.o_step.p
        return {
            "accesses": step.monitored,
            "unmonitored": ~step.monitored,
            "metadata_read_errors": step.read_error,
            **self._races(step),
        }

    def _own_fields(self, step, owner):
        return {"state": owner.state}
