"""The shift registers around a block."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from racetrap.fpga.flow.wrapper import ShiftWrapper


class Inverter(wiring.Component):
    i: In(stream.Signature(6))
    o_data: Out(4)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [self.o_data.eq(~self.i.payload[:4]), self.i.ready.eq(self.i.payload[4])]
        return m


def test_every_input_and_output_is_reached():
    wrapper = ShiftWrapper(Inverter())
    # Ports in order of their declaration: payload and valid go in, ready and data come out, the
    # last bit first.
    seen = {}

    async def bench(ctx):
        for pattern in range(64):
            for bit in reversed(range(7)):  # the first bit in goes furthest
                ctx.set(wrapper.i_serial, pattern >> bit & 1)
                await ctx.tick()
            ctx.set(wrapper.i_capture, 1)
            await ctx.tick()
            ctx.set(wrapper.i_capture, 0)
            out = []
            for _ in range(5):
                out.append(ctx.get(wrapper.o_serial))
                await ctx.tick()
            seen[pattern] = out

    simulator = Simulator(wrapper)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    for pattern, out in seen.items():
        data = [~pattern >> bit & 1 for bit in reversed(range(4))]
        assert out == [*data, pattern >> 4 & 1]
