"""Harness for a proof on the interleaver: what becomes of each warp's fences at each port."""

from __future__ import annotations

from amaranth.hdl import Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.scord.fence_bundle import fence_presence, fences_of
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness
from tests.support.planted_bugs import modules_with

_COMMON = ("common/stream.py", "common/arbiter.py")
_COLLECTOR, _INTERLEAVER = "scord/fence_collector.py", "scord/interleaver.py"


class InterleaverHarness(Harness):
    """Interleaver behind SMs that keep what they offer; ports take packets at any time.

    A warp that has sent a fence sends no other before it is told, as trackers have it.

    Parameters
    ----------
    params : ScordParams
        Configuration; two warps an SM, so that the FIFOs of fences are two registers.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        module = modules_with([*_COMMON, _COLLECTOR, _INTERLEAVER], case.bug)[_INTERLEAVER]
        self._interleaver = module.Interleaver(params)
        super().__init__(case, {
            "i_valid": In(params.sm_count), "i_ready": In(params.metadata_ports),
            "i_packet": In(struct_layout(params.segment_layout)).array(params.sm_count),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, dut = self._params, self._interleaver
        self._inner = OpenComponent(dut)
        m.submodules.interleaver = self._inner.fragment
        for sm, port in enumerate(dut.i_packet):
            valid, packet = self.i_valid[sm], self.i_packet[sm]
            kept = Cat(packet[name] for name in ("kind", "scope", "block", "warp"))
            waits, before = Signal(name=f"waits_{sm}"), Signal(len(kept), name=f"before_{sm}")
            m.d.sync += [waits.eq(valid & ~port.ready), before.eq(kept)]
            m.d.comb += [
                port.valid.eq(valid),
                port.payload.eq(packet),
                Assume(~waits | (valid & (kept == before))),
                Assume(self.i_packet[sm].block >> params.slot_bits == sm),
                Assume(self.i_packet[sm].warp < params.warps_per_sm),
            ]
        m.d.comb += [port.ready.eq(self.i_ready[k]) for k, port in enumerate(dut.o_packet)]

        rules, helps, on_way = [], [], []
        for sm in range(params.sm_count):
            for warp in range(params.warps_per_sm):
                fence = self._elaborate_warp(m, sm, warp, rules, helps)
                on_way.append(fence)
        helps += self._places()
        bundles = [self._is_fence(port) for port in dut.o_packet]
        lanes = Cat(fence_presence(params, dut.o_packet[0].payload))
        events = {
            "bundle-of-all-lanes": bundles[0] & lanes.all(),
            "a-port-is-late": dut.o_fenced[0][0] & ~bundles[0] & bundles[-1],
            "all-warps-fence": Cat(on_way).all(),
            "an-access-meanwhile": on_way[0] & dut.o_packet[0].valid & ~bundles[0],
        }
        self.state(m, rules, events, helps)
        return m

    def _is_fence(self, port) -> Value:
        return port.valid & (port.payload.kind == PacketKind.FENCE)

    def _elaborate_warp(self, m: Module, sm: int, warp: int, rules: list, helps: list) -> Value:
        """Rules of one warp's fences; whether one is on its way."""
        params, dut = self._params, self._interleaver
        number = f"{sm}_{warp}"
        offered, told = dut.i_packet[sm], dut.o_fenced[sm][warp]
        on_way = Signal(name=f"on_way_{number}")
        scope, earlier = (Signal(name=f"{name}_{number}") for name in ("scope", "earlier"))
        of_warp = (offered.payload.kind == PacketKind.FENCE) & (offered.payload.warp == warp)
        sent = Signal(name=f"sent_{number}")
        was_told = Signal(name=f"was_told_{number}")
        m.d.comb += [
            sent.eq(offered.valid & offered.ready & of_warp),
            Assume(~(offered.valid & of_warp) | ~on_way),
        ]
        m.d.sync += [on_way.eq(Mux(on_way, ~told, sent)), was_told.eq(told)]
        with m.If(sent):
            m.d.sync += [scope.eq(offered.payload.scope), earlier.eq(scope)]
        rules += [~told | on_way]
        in_queue, in_lane = self._where(sm, lambda fence: fence.warp == warp)
        helps += [sum([*in_queue, in_lane]) == on_way]
        kept = [self._scope_of(sm, place) == scope for place in range(3)]
        helps += [~at | same for at, same in zip((*in_queue, in_lane), kept, strict=True)]
        taken = self._inner["fences.taken"]
        for k, port in enumerate(dut.o_packet):
            # Fences of this warp that were sent and that this port's banks do not have yet.
            owed = Signal(2, name=f"owed_{number}_{k}")
            fences = fences_of(params, port.payload)
            presence = fence_presence(params, port.payload)
            mine = [
                is_there & (fence.block >> params.slot_bits == sm) & (fence.warp == warp)
                for fence, is_there in zip(fences, presence, strict=True)
            ]
            holds = self._is_fence(port) & Cat(mine).any()
            given_scope = Cat(
                is_mine & fence.scope for fence, is_mine in zip(fences, mine, strict=True)
            ).any()
            m.d.sync += owed.eq(owed + sent - (holds & port.ready))
            expected = Mux(owed == 2, earlier, scope)
            rules += [
                # Each fence once, and no other, with its scope.
                ~holds | ((owed != 0) & (sum(mine) == 1) & (given_scope == expected)),
                # A warp that goes on has its fence at every port, in front of what it sends then.
                ~was_told | (owed == holds),
                ~dut.o_idle | (owed == 0),
            ]
            waits_here = on_way & ~(in_lane & taken[k])
            helps += [owed == waits_here + holds]
        return on_way

    def _scope_of(self, sm: int, place: int) -> Value:
        """Scope of the fence in a place of an SM's queue, 0 and 1, or in its lane, 2."""
        fences = [*self._queue(sm), self._lane(sm)]
        return fences[place][1].scope

    def _queue(self, sm: int) -> list:
        """Whether there is a fence in each place of an SM's FIFO, and which."""
        layout = struct_layout(self._params.fence_layout)
        return [
            (
                self._inner[f"fences.fifo_{sm}.{place}.level"],
                layout(self._inner[f"fences.fifo_{sm}.{place}.r_data"]),
            )
            for place in ("first", "second")
        ]

    def _lane(self, sm: int) -> tuple:
        """Whether there is a fence in the lane that serves an SM, and which."""
        lane = f"fences.lane_{sm % self._params.fence_lanes}"
        layout = struct_layout(self._params.fence_layout)
        return (
            self._inner[f"{lane}.register.o__valid"],
            layout(self._inner[f"{lane}.register.payload"]),
        )

    def _where(self, sm: int, matches) -> tuple[list[Value], Value]:
        """Whether a fence that matches is in each place of an SM's FIFO, and in its lane."""
        params = self._params
        in_queue = [level & matches(fence) for level, fence in self._queue(sm)]
        valid, fence = self._lane(sm)
        return in_queue, valid & (fence.block >> params.slot_bits == sm) & matches(fence)

    def _places(self) -> list[Value]:
        """What holds wherever fences are."""
        params = self._params
        taken, lanes = self._inner["fences.taken"], []
        helps = []
        for sm in range(params.sm_count):
            helps += [
                ~level
                | ((fence.block >> params.slot_bits == sm) & (fence.warp < params.warps_per_sm))
                for level, fence in self._queue(sm)
            ]
        for number in range(params.fence_lanes):
            valid, fence = self._lane(number)
            owner = fence.block >> params.slot_bits
            mine = Cat(owner == sm for sm in range(number, params.sm_count, params.fence_lanes))
            helps += [~valid | (mine.any() & (fence.warp < params.warps_per_sm))]
            lanes.append(valid)
        helps += [~taken.any() | Cat(lanes).any(), ~taken.all()]
        return helps
