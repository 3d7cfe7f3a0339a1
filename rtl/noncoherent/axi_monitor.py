"""AXI monitor: operations of DMA from what a passive listener sees on a bus.

Ref: AMBA AXI and ACE Protocol Specification (IHI 0022), Sections A3.4 and A5.3;
``golden_model/noncoherent/axi_monitor.py`` (the same operations).
"""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.axi import AxiBurst
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from racetrap.rtl.common.axi import Axi4SnoopSignature
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamFifo

_COUNT_BITS = 8


def bus_signature(params: NoncoherentParams) -> Axi4SnoopSignature:
    """The bus that is observed; ids are numbers of engines."""
    return Axi4SnoopSignature(address_bits=params.address_bits, id_bits=params.engine_bits)


class AxiMonitor(wiring.Component):
    """Makes a DMA operation of each burst, and a sync when an engine has none left.

    The monitor cannot stall the bus: each cycle with a handshake takes a queue entry; bursts that
    find the queue full are lost and counted.  A burst is output at least two cycles after its
    address; then comes one operation a cycle, in bus order; within a cycle, reads before writes
    before syncs.  If a sync is lost, the engine's bytes stay in flight until it is idle again; with
    255 or more bursts in flight, permanently.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Members
    -------
    i_axi : ``In(bus_signature)``
        The bus.
    o_operation : ``Out(stream.Signature(operation_layout))``
        Operations; tags count bursts.
    o_lost : ``Out(2)``
        Bursts lost in this cycle.
    o_idle : ``Out(1)``
        No handshake is held here.
    """

    def __init__(self, params: NoncoherentParams):
        self._params = params
        super().__init__({
            "i_axi": In(bus_signature(params)),
            "o_operation": Out(stream.Signature(struct_layout(params.operation_layout))),
            "o_lost": Out(2),
            "o_idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params, bus = self._params, self.i_axi
        part = data.StructLayout({
            "valid": 1, "engine": params.engine_bits, "tag": params.tag_bits,
            "address": params.address_bits, "length": 8, "size": 3, "burst": 2,
        })  # fmt: skip
        done = data.StructLayout({"valid": 1, "engine": params.engine_bits})
        cycle = data.StructLayout({"read": part, "write": part, "read_done": done,
                                   "write_done": done})  # fmt: skip
        seen = Signal(cycle)
        reads, writes = bus.arvalid & bus.arready, bus.awvalid & bus.awready
        tag = Signal(params.tag_bits)
        m.d.sync += tag.eq(tag + reads + writes)
        for one, prefix, is_valid, own_tag in (
            (seen.read, "ar", reads, tag), (seen.write, "aw", writes, tag + reads),
        ):  # fmt: skip
            names = {"address": "addr", "length": "len", "size": "size", "burst": "burst"}
            m.d.comb += [
                one.valid.eq(is_valid), one.tag.eq(own_tag),
                one.engine.eq(self._engine(getattr(bus, f"{prefix}id"))),
                *(one[name].eq(getattr(bus, f"{prefix}{field}")) for name, field in names.items()),
            ]  # fmt: skip
        self._finish(m, seen)
        m.submodules.queue = queue = StreamFifo(cycle, params.bus_fifo_depth)
        is_seen = Cat(seen.read.valid, seen.write.valid, seen.read_done.valid,
                      seen.write_done.valid).any()  # fmt: skip
        m.d.comb += [
            queue.i.payload.eq(seen),
            queue.i.valid.eq(is_seen),
            self.o_lost.eq(Mux(queue.i.ready, 0, reads + writes)),
            self.o_idle.eq(queue.o_empty),
        ]
        self._hand_out(m, queue.o, data.View(cycle, queue.o.payload))
        return m

    def _engine(self, number: Value) -> Value:
        engines = self._params.engines
        if engines == 1:
            return Const(0, 1)
        return Mux(number >= engines, number - engines, number)[: self._params.engine_bits]

    def _finish(self, m: Module, seen: data.View) -> None:
        """Count the bursts of each engine, and find engines with none left."""
        bus = self.i_axi
        finished = (bus.rvalid & bus.rready & bus.rlast, bus.bvalid & bus.bready)
        engines = [self._engine(number) for number in (bus.rid, bus.bid)]
        for one, engine in zip((seen.read_done, seen.write_done), engines, strict=True):
            m.d.comb += one.engine.eq(engine)
        for engine in range(self._params.engines):
            count = Signal(_COUNT_BITS, name=f"under_way_{engine}")
            left = Signal(signed(_COUNT_BITS + 2), name=f"left_{engine}")
            begun = [one.valid & (one.engine == engine) for one in (seen.read, seen.write)]
            ended = [
                is_last & (number == engine)
                for is_last, number in zip(finished, engines, strict=True)
            ]
            m.d.comb += left.eq(count + begun[0] + begun[1] - ended[0] - ended[1])
            with m.If(~count.all()):
                most = (1 << _COUNT_BITS) - 1
                m.d.sync += count.eq(Mux(left < 0, 0, Mux(left > most, most, left)))
                with m.If(left <= 0):
                    with m.If(ended[0]):
                        m.d.comb += seen.read_done.valid.eq(1)
                    with m.Elif(ended[1]):
                        m.d.comb += seen.write_done.valid.eq(1)

    def _hand_out(self, m: Module, queue: stream.Interface, cycle: data.View) -> Signal:
        """Output the operations of a bus cycle one by one; returns which parts are done."""
        kinds = (OperationKind.DMA_READ, OperationKind.DMA_WRITE, *[OperationKind.SYNC] * 2)
        parts = (cycle.read, cycle.write, cycle.read_done, cycle.write_done)
        gone = Signal(len(parts))
        left = Signal.like(gone)
        operation = self.o_operation
        m.d.comb += [
            left.eq(Cat(part.valid for part in parts) & ~gone),
            operation.valid.eq(queue.valid),
            queue.ready.eq(operation.ready & ~(left & (left - 1)).any()),
        ]
        with m.If(queue.valid & operation.ready):
            m.d.sync += gone.eq(Mux(queue.ready, 0, gone | (left & -left)))
        for number, (kind, part) in reversed(list(enumerate(zip(kinds, parts, strict=True)))):
            with m.If(left[number]):
                m.d.comb += [
                    operation.payload.kind.eq(kind), operation.payload.engine.eq(part.engine)
                ]  # fmt: skip
        burst = Signal.like(cycle.read)
        m.d.comb += burst.eq(Mux(left[0], cycle.read.as_value(), cycle.write.as_value()))
        first, size = self._range(m, burst)
        with m.If(left[:2].any()):
            m.d.comb += [
                operation.payload.address.eq(first), operation.payload.size.eq(size),
                operation.payload.tag.eq(burst.tag),
            ]  # fmt: skip
        return gone

    def _range(self, m: Module, burst: data.View) -> Sequence[Value]:
        """First byte and length of a burst."""
        bits = self._params.address_bits
        beat, total = Signal(8), Signal(16)
        first, end = Signal(bits), Signal(bits + 2)
        size = Signal(bits + 1)
        most = Const(1 << bits, bits + 2)
        m.d.comb += [
            beat.eq(Const(1, 1) << burst.size),
            total.eq((burst.length + 1) << burst.size),
            first.eq(burst.address),
            end.eq((burst.address & ~(beat - 1)) + Mux(burst.burst == AxiBurst.FIXED, beat, total)),
            size.eq(Mux(end > most, most, end) - first),
        ]
        with m.If(burst.burst == AxiBurst.WRAP):
            m.d.comb += [first.eq(burst.address & ~(total - 1)), end.eq(first + total)]
        return first, size
