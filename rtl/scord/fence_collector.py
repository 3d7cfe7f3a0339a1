"""Fence collector: bundles the fences of all SMs, and acknowledges those that all banks have.

Ref: ScoRD (ISCA'20) Section IV-A (a fence is counted before what follows it in its warp).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.arbiter import StreamArbiter
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo
from racetrap.rtl.scord.fence_bundle import bundle_layout, unused_by_fence


class FenceCollector(wiring.Component):
    """Sends one bundle of fences at a time to the banks of every metadata port.

    A bundle has a fence of each lane at most, and lane ``k`` serves the SMs whose number is ``k``
    modulo ``fence_lanes``, round robin.  Up to ``fence_lanes`` fences a cycle thus reach every
    bank.  The fences of an SM wait in a FIFO with an entry for each of its warps: no warp has two
    fences in flight, so ``i[sm]`` is always ready and a fence blocks nothing else.  A fence is in
    its bundle three cycles after it came, if none is before it.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i : ``In(stream.Signature(fence_layout)).array(sm_count)``
        Fences of each SM.
    o : ``Out(stream.Signature(segment_layout)).array(metadata_ports)``
        Bundles for the banks of each port, the same ones in the same order.
    o_fenced : ``Out(warps_per_sm).array(sm_count)``
        Pulse for each warp of each SM: its fence has been taken at every port.
    o_idle : ``Out(1)``
        No fence is held here.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(struct_layout(params.fence_layout))).array(params.sm_count),
            "o": Out(
                stream.Signature(struct_layout(params.segment_layout))
            ).array(params.metadata_ports),
            "o_fenced": Out(params.warps_per_sm).array(params.sm_count),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        may_load, leaves = Signal(name="may_load"), Signal(name="leaves")
        fifos = self._elaborate_fifos(m)
        lanes = self._elaborate_lanes(m, fifos, may_load, leaves)
        present = Signal(self._params.fence_lanes)
        m.d.comb += [
            present.eq(Cat(lane.o.valid for lane in lanes)),
            # All lanes change together: ports that take a bundle later must see the same one.
            may_load.eq(~present.any() | leaves),
            self.o_idle.eq(~present.any() & Cat(fifo.o_empty for fifo in fifos).all()),
        ]
        self._elaborate_ports(m, lanes, present, leaves)
        self._elaborate_fenced(m, lanes, leaves)
        return m

    def _elaborate_fifos(self, m):
        params, fifos = self._params, []
        for sm in range(params.sm_count):
            fifo = StreamFifo(struct_layout(params.fence_layout), params.warps_per_sm)
            m.submodules[f"fifo_{sm}"] = fifo
            connect(m, wiring.flipped(self.i[sm]), fifo.i)
            fifos.append(fifo)
        return fifos

    def _elaborate_lanes(self, m, fifos, may_load, leaves):
        """An arbiter for the SMs of each lane; its register holds the lane's part of the bundle."""
        params, lanes = self._params, []
        for number in range(params.fence_lanes):
            mine = fifos[number :: params.fence_lanes]
            lane = StreamArbiter(struct_layout(params.fence_layout), len(mine))
            m.submodules[f"lane_{number}"] = lane
            m.d.comb += lane.o.ready.eq(leaves)
            for port, fifo in zip(lane.i, mine, strict=True):
                m.d.comb += [
                    port.payload.eq(fifo.o.payload),
                    port.valid.eq(fifo.o.valid & may_load),
                    fifo.o.ready.eq(port.ready & may_load),
                ]
            lanes.append(lane)
        return lanes

    def _elaborate_ports(self, m, lanes, present, leaves):
        """Offer the bundle to each port until it has taken it; the bundle leaves with the last."""
        params = self._params
        bundle = Signal(bundle_layout(params))
        taken = Signal(params.metadata_ports)
        has_taken = Cat(port.ready for port in self.o) | taken
        m.d.comb += [
            bundle.present.eq(present),
            *(
                place.eq(lane.o.payload)
                for place, lane in zip(bundle.others, lanes[1:], strict=True)
            ),
            leaves.eq(present.any() & has_taken.all()),
        ]
        m.d.sync += taken.eq(has_taken & (present.any() & ~leaves).replicate(len(taken)))
        first = lanes[0].o.payload
        for number, port in enumerate(self.o):
            m.d.comb += [
                port.valid.eq(present.any() & ~taken[number]),
                port.payload.kind.eq(PacketKind.FENCE),
                port.payload.scope.eq(first.scope),
                port.payload.block.eq(first.block),
                port.payload.warp.eq(first.warp),
            ]
            if params.fence_lanes > 1:
                rest = unused_by_fence(port.payload)
                m.d.comb += rest[: len(bundle.as_value())].eq(bundle)

    def _elaborate_fenced(self, m, lanes, leaves):
        params = self._params
        for sm, fenced in enumerate(self.o_fenced):
            lane = lanes[sm % params.fence_lanes].o
            is_mine = lane.valid & ((lane.payload.block >> params.slot_bits) == sm)
            m.d.comb += fenced.eq((leaves & is_mine) << lane.payload.warp)
