"""Local metadata memory: block RAM behind a bank's AXI4 port, for small FPGAs."""

from __future__ import annotations

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.gpu.metadata_port import metadata_port


class LocalMemory(wiring.Component):
    """AXI4 subordinate for single-beat transfers of whole segments.

    One read and one write a cycle, answered in the next cycle.  The port's number is left out of
    the address, since a port accesses only its own segments; strobes are ignored, since no read of
    this memory fails.

    Parameters
    ----------
    params : GpuParams
        Configuration; ``local_bytes`` is shared out over the ports.

    Members
    -------
    s_axi : ``In(metadata_port(params))``
        The metadata port.

    Raises
    ------
    ValueError
        If the parameters ask for no local memory.
    """

    def __init__(self, params: GpuParams):
        if not params.local_bytes:
            raise ValueError("Parameter local_bytes must be positive for a local memory, not 0")
        self._params = params
        super().__init__({
            "s_axi": In(metadata_port(params)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        axi = self.s_axi
        params = self._params
        depth = params.local_bytes // params.segment_bytes // params.metadata_ports
        m.submodules.memory = memory = Memory(shape=8 * params.segment_bytes, depth=depth, init=[])
        read, write = memory.read_port(), memory.write_port()
        segment_shift = (params.segment_bytes * params.metadata_ports).bit_length() - 1

        read_taken = Signal()
        m.d.comb += [
            axi.arready.eq(~axi.rvalid | axi.rready),
            read_taken.eq(axi.arvalid & axi.arready),
            read.en.eq(read_taken),
            read.addr.eq(axi.araddr >> segment_shift),
            axi.rdata.eq(read.data),
            axi.rlast.eq(1),
        ]
        with m.If(axi.arready):
            m.d.sync += axi.rvalid.eq(axi.arvalid)
        with m.If(read_taken):
            m.d.sync += axi.rid.eq(axi.arid)

        # Address and data are taken together: the accessor sends both at once.
        write_taken = Signal()
        m.d.comb += [
            write_taken.eq(axi.awvalid & axi.wvalid & (~axi.bvalid | axi.bready)),
            axi.awready.eq(write_taken),
            axi.wready.eq(write_taken),
            write.en.eq(write_taken),
            write.addr.eq(axi.awaddr >> segment_shift),
            write.data.eq(axi.wdata),
        ]
        with m.If(write_taken):
            m.d.sync += [axi.bvalid.eq(1), axi.bid.eq(axi.awid)]
        with m.Elif(axi.bready):
            m.d.sync += axi.bvalid.eq(0)
        return m
