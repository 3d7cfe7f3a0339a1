"""Proof: an access goes to the port of its segment and to no other, a fence to the collector."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib.wiring import In

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "scord/interleaver.py"
_PARAMS = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=2, banks=6, granularity=16, address_bits=20, pc_bits=8
)
_PORTS = _PARAMS.metadata_ports


class RouterHarness(Harness):
    """Two routers with free packets and free ports.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        module = modules_with([_FILE], case.bug)[_FILE]
        self._routers = [module.PacketRouter(_PARAMS) for _ in range(2)]
        packet = struct_layout(_PARAMS.segment_layout)
        super().__init__(case, {
            "i_valid": In(1), "i_packet": In(packet), "i_other": In(packet), "i_ready": In(_PORTS),
            "i_fence_ready": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        one, other = self._routers
        m.submodules.one, m.submodules.other = one, other
        m.d.comb += [
            one.i.valid.eq(self.i_valid), one.i.payload.eq(self.i_packet),
            other.i.valid.eq(1), other.i.payload.eq(self.i_other),
            one.i_ready.eq(self.i_ready), other.i_ready.eq(self.i_ready),
            one.o_fence.ready.eq(self.i_fence_ready), other.o_fence.ready.eq(self.i_fence_ready),
        ]  # fmt: skip
        is_fence, is_access = (
            self.i_valid & kind
            for kind in (
                self.i_packet.kind == PacketKind.FENCE,
                self.i_packet.kind != PacketKind.FENCE,
            )
        )
        wanted = Signal(_PORTS)
        # Words of a granule, and granules of a segment, are at one port.
        step = (_PARAMS.granularity // 4) << _PARAMS.lane_bits
        segments = self.i_packet.word // step, self.i_other.word // step
        same = (segments[0] == segments[1]) & (self.i_other.kind != PacketKind.FENCE)
        # The segments are dealt in turn to the ports, while the remainder is counted.
        turn = 1 << (_PARAMS.port_bits + _PARAMS.residue_bits)
        low, rest = (
            segments[0] % (1 << _PARAMS.port_bits),
            (segments[0] % turn) >> _PARAMS.port_bits,
        )
        m.d.comb += wanted.bit_select(
            low + ((rest % _PARAMS.odd_ports) << _PARAMS.port_bits), 1
        ).eq(is_access)
        taken = Array(self.i_ready)
        number = sum(k * one.o_valid[k] for k in range(_PORTS))
        rules = [
            one.o_valid == wanted, (one.o_valid & (one.o_valid - 1)) == 0,
            one.o_valid.any() == is_access, one.o_fence.valid == is_fence,
            ~(is_access & same) | (one.o_valid == other.o_valid),
            ~self.i_valid | (one.i.ready == Mux(is_fence, self.i_fence_ready, taken[number])),
            *(
                ~is_fence | (one.o_fence.payload[name] == self.i_packet[name])
                for name in _PARAMS.fence_layout.fields
            ),
        ]  # fmt: skip
        events = {
            "last-port": one.o_valid[-1],
            "fence": is_fence & one.i.ready & ~self.i_ready.any(),
            "waits-for-its-port": is_access & ~one.i.ready & (Cat(self.i_ready[k] for k in
            range(_PORTS)) != 0),
        }  # fmt: skip
        self.state(m, rules, events)
        return m


PROOF = Proof(
    rule="An access is offered to one port, that of its segment, by the remainder of the segment's "
    "number; two accesses to a granule go to one port. A fence is offered to the collector alone, "
    "with all its fields. A packet is taken when its own place takes it.",
    sizes="6 ports, granules of 16 bytes, 20 address bits",
    harness=RouterHarness,
    depth=1,
    events=("last-port", "fence", "waits-for-its-port"),
    bugs={
        "port-of-the-word": Patch(
            _FILE, "segment = params.granularity_bits - (WORD_BYTES.bit_length() - 1)"
            " + params.lane_bits", "segment = params.lane_bits",
        ),
        "fence-to-a-port-too": Patch(
            _FILE, "(self.i.valid & ~is_fence).replicate", "self.i.valid.replicate"
        ),
        "taken-by-any-port": Patch(_FILE, "(self.i_ready & wanted).any()", "self.i_ready.any()"),
        "remainder-of-part": Patch(
            _FILE, "packet.word[residue : residue + params.residue_bits]",
            "packet.word[residue : residue + params.residue_bits - 1]",
        ),
    },
    cycles=1,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
