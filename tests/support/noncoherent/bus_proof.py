"""Harness for a proof on the AXI monitor: a burst of the bus is handed out, held or counted."""

from __future__ import annotations

from types import ModuleType

from amaranth.hdl import Assert, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import OperationKind

_COUNT_BITS = 6


class BusHarness(wiring.Component):
    """An AXI monitor with a free bus and a free listener, and counts of bursts.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration, with two places in the queue.
    module : ModuleType
        The monitor's module, perhaps with a bug.
    never_loses : bool
        Instead of what must hold: that no burst is ever lost, to see that one can be.
    """

    def __init__(self, params: NoncoherentParams, module: ModuleType, *, never_loses: bool = False):
        self._monitor, self._never_loses = module.AxiMonitor(params), never_loses
        super().__init__({
            "i_axi": In(module.bus_signature(params)), "i_ready": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        monitor, seen = self._monitor, {}
        hand_out = monitor._hand_out

        def observe(inner, queue, cycle):
            seen["gone"] = hand_out(inner, queue, cycle)
            return seen["gone"]

        monitor._hand_out = observe
        m.submodules.monitor = inner = monitor.elaborate(platform)
        queue = inner.submodules.queue
        registers = queue.elaborate(platform)
        queue.elaborate = lambda platform: registers
        wiring.connect(m, wiring.flipped(self.i_axi), monitor.i_axi)
        m.d.comb += monitor.o_operation.ready.eq(self.i_ready)
        if self._never_loses:
            m.d.comb += Assert(monitor.o_lost == 0)
        else:
            self._account(m, registers.submodules, queue.i.payload.shape(), seen["gone"])
        return m

    def _account(self, m: Module, registers, shape: data.Layout, gone: Signal) -> None:
        bus, operation = self.i_axi, self._monitor.o_operation
        kind = operation.payload.kind
        is_burst = (kind == OperationKind.DMA_READ) | (kind == OperationKind.DMA_WRITE)
        begun = (bus.arvalid & bus.arready) + (bus.awvalid & bus.awready)
        handed = operation.valid & operation.ready & is_burst
        # Bursts that were seen and neither handed out nor counted as lost.
        held = Signal(_COUNT_BITS)
        m.d.sync += held.eq(held + begun - handed - self._monitor.o_lost)
        later, first = registers.first, registers.second
        waiting = _parts(shape, later.r_data)
        left = _parts(shape, first.r_data) & ~gone
        m.d.comb += [
            Assert(held == Mux(later.r_rdy, _bursts(waiting), 0)
                   + Mux(first.r_rdy, _bursts(left), 0)),
            Assert(~self._monitor.o_idle | (held == 0)),
            # What the induction needs beside.
            Assert(~later.r_rdy | (waiting != 0)),
            Assert(Mux(first.r_rdy, left != 0, gone == 0)),
        ]  # fmt: skip


def _parts(shape: data.Layout, word: Value) -> Value:
    cycle = data.View(shape, word)
    names = ("read", "write", "read_done", "write_done")
    return Cat(cycle[name].valid for name in names)


def _bursts(parts: Value) -> Value:
    return parts[0] + parts[1]
