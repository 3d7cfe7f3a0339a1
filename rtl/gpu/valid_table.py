"""Table of valid segments: a launch clears it, instead of writing all metadata.

Ref: ScoRD (ISCA'20) Section IV (metadata are reset at kernel launch; the table is our addition).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.gpu.params import VALID_ROW_BITS, GpuParams
from racetrap.rtl.common.memory import block_memory
from racetrap.rtl.common.stream import StreamRegister
from racetrap.rtl.gpu.metadata_accessor import located_segment


def valid_bit(params: GpuParams, within: Value, region: Value | None = None) -> tuple[Value, Value]:
    """Bit of a segment in its port's table, by its index in its region; and whether it has one.

    Parameters
    ----------
    params : GpuParams
        Configuration, with a table.
    within : Value
        Index of the segment in its region.
    region : Value or None
        Number of the region, if there are several.
    """
    bits = params.valid_share.bit_length() - 1
    number = within[params.port_shift :]
    place = [number[:bits], Const(0, max(bits - len(number), 0))]
    return Cat(*place, *([] if region is None else [region])), ~number[bits:].any()


class ValidTable(wiring.Component):
    """Register slice that marks segments as new: not accessed since launch.

    The table has a bit for each segment of the port, set by the first access.  A new segment is not
    read from memory; its first access changes an entry, so the whole segment is written.  Latency
    is one cycle, throughput one segment a cycle.  ``i.ready`` follows ``o.ready`` in the same cycle
    and does not depend on ``i.valid``.

    Parameters
    ----------
    params : GpuParams
        Configuration, with ``valid_segments``.

    Members
    -------
    i : ``In(stream.Signature(located_segment(params)))``
        Segments; ``is_new`` if it needs an entry and has a bit, ``bit``.
    o : ``Out(stream.Signature(located_segment(params)))``
        The same; ``is_new`` only if the bit is 0.
    i_clear : ``In(1)``
        Pulse: set all bits to 0; no segment may be in here.
    o_busy : ``Out(1)``
        High while that lasts, from the next cycle on: a cycle for each row of bits.
    """

    def __init__(self, params: GpuParams):
        if not params.valid_segments:
            raise ValueError("Parameter valid_segments must be positive for a table, not 0")
        self._params = params
        super().__init__({
            "i": In(stream.Signature(located_segment(params))),
            "o": Out(stream.Signature(located_segment(params))),
            "i_clear": In(1),
            "o_busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        depth = self._params.valid_segments // VALID_ROW_BITS
        column_bits = VALID_ROW_BITS.bit_length() - 1
        m.submodules.located = located = StreamRegister(located_segment(self._params))
        m.submodules.rows = rows = block_memory(VALID_ROW_BITS, depth)
        read, write = rows.read_port(), rows.write_port()
        # Value that the segment ahead writes at the clock edge at which the row is read.
        was_written = Signal()
        written = Signal(VALID_ROW_BITS, reset_less=True)
        row = Signal(VALID_ROW_BITS)
        place = located.o.p.bit
        cleared = Signal(range(depth + 1), init=depth)
        is_taken = self.i.valid & self.i.ready
        connect(m, flipped(self.i), located.i)
        connect(m, flipped(self.o), located.o)
        m.d.comb += [
            read.en.eq(is_taken),
            read.addr.eq(self.i.p.bit[column_bits:]),
            row.eq(Mux(was_written, written, read.data)),
            self.o.p.is_new.eq(located.o.p.is_new & ~row.bit_select(place[:column_bits], 1)),
            self.o_busy.eq(cleared != depth),
            # Also while it waits: the row is not read again before it leaves.
            write.en.eq(self.o_busy | (self.o.valid & self.o.p.is_new)),
            write.addr.eq(Mux(self.o_busy, cleared, place[column_bits:])),
            write.data.eq(Mux(self.o_busy, 0, row | (1 << place[:column_bits]))),
        ]
        with m.If(is_taken):
            m.d.sync += [
                was_written.eq(write.en & (write.addr == read.addr)),
                written.eq(write.data),
            ]
        with m.If(self.i_clear):
            m.d.sync += cleared.eq(0)
        with m.Elif(self.o_busy):
            m.d.sync += cleared.eq(cleared + 1)
        return m
