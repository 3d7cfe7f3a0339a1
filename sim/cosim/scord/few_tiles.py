"""A few of ScoRD's tiles, joined by a network with random delays.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamRegister
from racetrap.rtl.scord.tiles import ScordTiles
from racetrap.sim.cosim.gpu.delayed_crossbar import DelayedCrossbar
from racetrap.sim.cosim.gpu.tile_places import TilePlaces


class AbsentSlices(wiring.Component):
    """What stands for all slice units that are not there: it answers fences and marks.

    Parameters
    ----------
    params : ScordParams
        Configuration.

    Members
    -------
    i, o : ``In(stream.Signature(request_layout))``, ``Out(...response_layout)``
        Requests, and their answers.
    """

    def __init__(self, params: ScordParams):
        self._params = params
        super().__init__({
            "i": In(stream.Signature(struct_layout(params.request_layout))),
            "o": Out(stream.Signature(struct_layout(params.response_layout))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        layout = struct_layout(self._params.response_layout)
        m.submodules.answer = answer = StreamRegister(layout)
        wiring.connect(m, answer.o, wiring.flipped(self.o))
        request = self.i.payload
        asks = request.is_mark | (request.segment.kind == PacketKind.FENCE)
        m.d.comb += [
            answer.i.valid.eq(self.i.valid & asks),
            answer.i.payload.destination.eq(request.segment.block >> self._params.slot_bits),
            answer.i.payload.is_mark.eq(request.is_mark),
            answer.i.payload.warp.eq(request.segment.warp),
            self.i.ready.eq(answer.i.ready),
        ]
        return m


class FewTilesNetwork(wiring.Component):
    """Requests and responses take any time, and those of different pairs overtake each other.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    places : TilePlaces
        Tiles that are there.

    Members
    -------
    i_packet, o_packet, i_response, o_response, o_idle
        As those of ``TileNetwork``, for the tiles that are there.
    """

    def __init__(self, params: ScordParams, places: TilePlaces):
        self._params, self._places = params, places
        request = stream.Signature(struct_layout(params.request_layout))
        response = stream.Signature(struct_layout(params.response_layout))
        super().__init__({
            "i_packet": In(request).array(len(places.sms)),
            "o_packet": Out(request).array(len(places.ports)),
            "i_response": In(response).array(len(places.ports)),
            "o_response": Out(response).array(len(places.sms)),
            "o_idle": Out(1, init=1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, sms, ports = self._params, self._places.sms, self._places.ports
        slices = [{port} for port in ports]
        if absent := set(range(params.metadata_ports)) - set(ports):
            m.submodules.absent = rest = AbsentSlices(params)
            slices.append(absent)
        m.submodules.requests = requests = DelayedCrossbar(
            struct_layout(params.request_layout), len(sms), slices
        )
        m.submodules.responses = responses = DelayedCrossbar(
            struct_layout(params.response_layout), len(slices), [{sm} for sm in sms]
        )
        for place in range(len(sms)):
            wiring.connect(m, wiring.flipped(self.i_packet[place]), requests.i[place])
            wiring.connect(m, responses.o[place], wiring.flipped(self.o_response[place]))
        for place in range(len(ports)):
            wiring.connect(m, requests.o[place], wiring.flipped(self.o_packet[place]))
            wiring.connect(m, wiring.flipped(self.i_response[place]), responses.i[place])
        if absent:
            wiring.connect(m, requests.o[-1], rest.i)
            wiring.connect(m, rest.o, responses.i[-1])
        m.d.comb += self.o_idle.eq(1)
        return m


class FewTiles(ScordTiles):
    """Tiles without the others of their GPU, whose ports and registers it has.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    """

    def __init__(self, params: ScordParams):
        super().__init__(params)
        self._places = places = TilePlaces(params)
        self._sms, self._ports = places.sms, places.ports

    def _make_interleaver(self) -> FewTilesNetwork:
        return FewTilesNetwork(self._params, self._places)
