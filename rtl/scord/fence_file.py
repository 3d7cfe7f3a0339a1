"""Fence file: two wrapping counters for each warp slot of the GPU, in a memory for each fence lane.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section IV-C.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.warp_slot import warp_slot
from racetrap.rtl.scord.fence_counters import FenceCounters, fence_counters


def fence_file_members(params: ScordParams) -> dict[str, Member]:
    """Members of a ``FenceFile``."""
    slot, counters, lanes = warp_slot(params), fence_counters(params), params.fence_lanes
    return {
        "i_owner": In(slot),
        "i_own": In(slot).array(lanes),
        "i_late": In(1),
        "i_late_owner": In(slot),
        "i_late_counters": In(counters),
        "i_fence": In(lanes),
        "i_scope": In(lanes),
        "o_owner": Out(counters),
        "o_own": Out(counters),
        "o_fenced": Out(counters).array(lanes),
        "i_clear": In(1),
        "o_busy": Out(1),
    }  # fmt: skip


class FenceFile(wiring.Component):
    """Looks up two warps a cycle, or counts a fence in each lane.

    Lane ``k`` has the warps of the SMs whose number is ``k`` modulo ``fence_lanes``.  Timing is
    that of ``FenceCounters``: warps given in one cycle are answered two cycles later.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i_owner : ``In(warp_slot(params))``
        Warp that owns the metadata entry.
    i_own : ``In(warp_slot(params)).array(fence_lanes)``
        Warp that accesses, the same in all lanes; or for each lane the warp that executes a fence.
    i_late, i_late_owner, i_late_counters : ``In(1)``, ``In(warp_slot)``, ``In(fence_counters)``
        In the cycle after: the owner is this one instead, and its counters are these but for a
        fence in this cycle.
    i_fence, i_scope : ``In(fence_lanes)``
        In the cycle of the answer, for each lane: there is a fence, and its scope.
    o_owner, o_own : ``Out(fence_counters(params))``
        Counters of the owner, and of the warp that accesses.
    o_fenced : ``Out(fence_counters(params)).array(fence_lanes)``
        For each lane, counters of the warp that executes a fence, after it.
    i_clear : ``In(1)``
        Pulse: reset all counters.
    o_busy : ``Out(1)``
        The reset is in progress; lookups and fences are not allowed.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__(fence_file_members(params))

    def elaborate(self, platform):
        m = Module()
        lanes = []
        for number in range(self._params.fence_lanes):
            m.submodules[f"lane_{number}"] = lane = FenceCounters(self._params)
            self._elaborate_lane(m, number, lane)
            lanes.append(lane)
        m.d.comb += self.o_busy.eq(lanes[0].o_busy)
        if len(lanes) == 1:
            m.d.comb += [self.o_owner.eq(lanes[0].o_owner), self.o_own.eq(lanes[0].o_own)]
        else:
            self._elaborate_answer(m, lanes)
        return m

    def _elaborate_lane(self, m, number, lane):
        """A lane looks up any warp; answers for warps of other lanes are not used."""
        low = self._params.fence_lane_bits
        for given, taken in (
            (self.i_owner, lane.i_owner),
            (self.i_own[number], lane.i_own),
            (self.i_late_owner, lane.i_late_owner),
        ):
            m.d.comb += [taken.warp.eq(given.warp), taken.sm.eq(given.sm >> low)]
        m.d.comb += [
            lane.i_late.eq(self.i_late),
            lane.i_late_counters.eq(self.i_late_counters),
            lane.i_fence.eq(self.i_fence[number]),
            lane.i_scope.eq(self.i_scope[number]),
            lane.i_clear.eq(self.i_clear),
            self.o_fenced[number].eq(lane.o_own),
        ]

    def _elaborate_answer(self, m, lanes):
        """The answers of the lanes that the two warps belong to."""
        low = self._params.fence_lane_bits
        # Lanes of the warps given in the cycle before.
        owner, own, owner_lane, own_lane = (
            Signal(low, name=name) for name in ("owner", "own", "owner_lane", "own_lane")
        )
        m.d.sync += [
            owner.eq(self.i_owner.sm),
            own.eq(self.i_own[0].sm),
            owner_lane.eq(Mux(self.i_late, self.i_late_owner.sm, owner)),
            own_lane.eq(own),
        ]
        for lane, answer, name in (
            (owner_lane, self.o_owner, "o_owner"),
            (own_lane, self.o_own, "o_own"),
        ):
            answers = [Value.cast(getattr(each, name)) for each in lanes]
            m.d.comb += Value.cast(answer).eq(Cat(answers).word_select(lane, len(answers[0])))
