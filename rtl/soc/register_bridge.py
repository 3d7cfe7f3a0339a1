"""Bridge of the example system: from the simple memory bus to registers on AXI4-Lite."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.common.axi import AxiLiteSignature
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS
from racetrap.rtl.soc.bus import MemorySignature


class RegisterBridge(wiring.Component):
    """Makes one AXI4-Lite transfer of each access, of two masters in turn.

    An access is chosen in one cycle, and answered in that of the registers' response.  If both
    masters wait, the first one goes first.  An error response is passed over in silence.

    Members
    -------
    masters : ``In(MemorySignature) x 2``
        Accesses, in whole words.
    registers : ``Out(AxiLiteSignature)``
        The registers.
    """

    def __init__(self) -> None:
        super().__init__({
            "masters": In(MemorySignature()).array(2),
            "registers": Out(AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        registers, second = self.registers, Signal()
        first, other = self.masters
        address = Mux(second, other.address, first.address)
        m.d.comb += [
            registers.awaddr.eq(address), registers.araddr.eq(address),
            registers.wdata.eq(Mux(second, other.wdata, first.wdata)),
            registers.wstrb.eq(Mux(second, other.wstrb, first.wstrb)),
        ]  # fmt: skip
        is_write = Mux(second, other.wstrb, first.wstrb).any()
        address_taken, data_taken, done = Signal(), Signal(), Signal()
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [second.eq(~first.valid), address_taken.eq(0), data_taken.eq(0)]
                with m.If(first.valid | other.valid):
                    m.next = "ACCESS"
            with m.State("ACCESS"):
                m.d.comb += [
                    registers.awvalid.eq(is_write & ~address_taken),
                    registers.arvalid.eq(~is_write & ~address_taken),
                    registers.wvalid.eq(is_write & ~data_taken),
                    registers.bready.eq(1), registers.rready.eq(1),
                    done.eq(registers.bvalid | registers.rvalid),
                ]  # fmt: skip
                with m.If(Mux(is_write, registers.awready, registers.arready)):
                    m.d.sync += address_taken.eq(1)
                with m.If(registers.wready):
                    m.d.sync += data_taken.eq(1)
                with m.If(done):
                    m.next = "IDLE"
        for number, master in enumerate(self.masters):
            m.d.comb += [master.ready.eq(done & (second == number)),
                         master.rdata.eq(registers.rdata)]  # fmt: skip
        return m
