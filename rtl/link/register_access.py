"""One access to a register at a time, over AXI4-Lite.

Ref: AMBA AXI and ACE Protocol Specification (IHI 0022), chapter B1.
"""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.common.axi import AxiLiteSignature, is_error

_DATA_BITS = 32


def access_layout(address_bits: int) -> data.StructLayout:
    """An access; ``data`` counts in a write only."""
    return data.StructLayout({"address": address_bits, "data": _DATA_BITS, "write": 1})


class Response(data.Struct):
    """Response to an access; ``data`` counts after a read only."""

    data: _DATA_BITS
    error: 1


class RegisterAccess(wiring.Component):
    """AXI4-Lite manager that does what a stream says.

    An access goes out in the cycle after it is offered, and is taken together with its
    response.  All four bytes of a register are written.

    Parameters
    ----------
    address_bits : int
        Bits of an address.

    Members
    -------
    i : ``In(stream.Signature(access_layout(address_bits)))``
        Accesses.
    o : ``Out(stream.Signature(Response))``
        One response for each access; SLVERR and DECERR are errors.
    m_axil : ``Out(AxiLiteSignature(address_bits=address_bits))``
        The registers.
    """

    def __init__(self, address_bits: int):
        super().__init__({
            "i": In(stream.Signature(access_layout(address_bits))),
            "o": Out(stream.Signature(Response)),
            "m_axil": Out(AxiLiteSignature(address_bits=address_bits)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        axi, access = self.m_axil, self.i.p
        is_started = Signal()
        m.d.comb += [
            axi.awaddr.eq(access.address),
            axi.wdata.eq(access.data),
            axi.wstrb.eq(~0),
            axi.araddr.eq(access.address),
            axi.bready.eq(self.o.ready),
            axi.rready.eq(self.o.ready),
            self.o.valid.eq(axi.bvalid | axi.rvalid),
            self.o.p.data.eq(axi.rdata),
            self.o.p.error.eq(is_error(Mux(access.write, axi.bresp, axi.rresp))),
            self.i.ready.eq(self.o.valid & self.o.ready),
        ]
        for valid, ready in (
            (axi.awvalid, axi.awready), (axi.wvalid, axi.wready), (axi.arvalid, axi.arready),
        ):  # fmt: skip
            with m.If(ready):
                m.d.sync += valid.eq(0)
        with m.If(self.i.valid & ~is_started):
            m.d.sync += [
                is_started.eq(1),
                axi.awvalid.eq(access.write),
                axi.wvalid.eq(access.write),
                axi.arvalid.eq(~access.write),
            ]
        with m.If(self.i.ready):
            m.d.sync += is_started.eq(0)
        return m
