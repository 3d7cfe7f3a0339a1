"""Check lane: a bank's part of a metadata port, from packets with entries to steps and reports.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.scord.detector_bank import COUNTERS
from racetrap.golden_model.scord.packets import PacketKind, Preliminary, RaceKind, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.check_lane import RaceLane, trace_signature
from racetrap.rtl.scord.check_pipeline import CheckPipeline
from racetrap.rtl.scord.shared_fence_file import bank_lookup


class CheckLane(RaceLane):
    """Check lane with ScoRD's pipeline; ``i_clear`` resets its fence file.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    trace_fences : ``Out(trace_signature(params)).array(fence_lanes - 1)``
        Steps of the other fences that are counted in the same cycle.
    lookup : ``In(bank_lookup(params))``
        The shared fence file, if banks share one.
    """

    pipeline, race_kinds = CheckPipeline, RaceKind

    def __init__(self, params: ScordParams):
        fences = Out(trace_signature(params)).array(params.fence_lanes - 1)
        lookup = {"lookup": In(bank_lookup(params))} if params.shares_owners else {}
        super().__init__(params, {"trace_fences": fences, **lookup})

    @classmethod
    def pulses(cls, params):
        # As many fences as there are lanes come at once.
        return {
            **dict.fromkeys((*COUNTERS, "reports_dropped"), 1),
            "fences": params.fence_lanes.bit_length(),
        }

    def _elaborate_own(self, m: Module, pipeline: CheckPipeline) -> None:
        for fence, trace in zip(pipeline.o_fences, self.trace_fences, strict=True):
            connect(m, fence, flipped(trace))
        if self._params.shares_owners:
            connect(m, pipeline.lookup, flipped(self.lookup))
        m.d.comb += [
            pipeline.i_clear.eq(self.i_clear),
            self.o_busy.eq(pipeline.o_busy),
        ]

    def _counted(self, m, pipeline):
        step, is_valid = pipeline.o_step.p, pipeline.o_step.valid
        is_fence = step.packet.kind == PacketKind.FENCE
        is_access = step.row != TableRow.UNMONITORED
        fences = sum((fence.valid for fence in pipeline.o_fences), is_valid & is_fence)
        m.d.comb += self.o_count.fences.eq(fences)
        return {
            "unmonitored": ~is_access,
            "accesses": is_access & ~is_fence,
            "tag_conflicts": step.tag_conflict,
            "metadata_read_errors": step.read_error,
            **{f"preliminary_{check.name.lower()}": step.preliminary == check
               for check in Preliminary if check},
            **self._races(step),
        }  # fmt: skip

    def _own_fields(self, step, owner):
        other_block = owner.block != step.packet.block
        if self._params.slot_generation_bits:
            other_block |= owner.generation != step.packet.generation
        return {"device_race": other_block}
