"""Region table: several monitored regions, and the addresses of their metadata.

Ref: ScoRD (ISCA'20) Section IV-B; several regions are our extension.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from racetrap.golden_model.events import EventKind
from racetrap.golden_model.gpu.params import LINE_BYTES, WORD_BYTES, GpuParams
from racetrap.rtl.common.bits import one_hot_select
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.stream import StreamRegister
from racetrap.rtl.gpu.metadata_accessor import located_segment
from racetrap.rtl.gpu.protection import bounds_layout, is_inside
from racetrap.rtl.gpu.region import index_bits, region_layout, turn_bits
from racetrap.rtl.gpu.valid_table import valid_bit

_LINE_BITS = LINE_BYTES.bit_length() - 1
#: Bits of a tag that are found in one stage of the locator.
_TAG_BITS_OF_STAGE = 2


def region_registers(params: GpuParams) -> data.ArrayLayout:
    """Registers that software writes: byte addresses of data and metadata, lines (0: unused)."""
    return data.ArrayLayout(
        data.StructLayout({"data": 64, "lines": 32, "metadata": 64}), params.regions
    )


class RegionChecker(wiring.Component):
    """Checks a table's registers, and derives from them what the banks need.

    The rules are those of ``RegionTable.check``.  Two regions are compared each cycle, so the
    result is valid ``regions ** 2 + 3`` cycles after a change.

    Parameters
    ----------
    params : GpuParams
        Configuration, with several regions.

    Members
    -------
    i_registers : ``In(region_registers(params))``
        Registers as written by software.
    i_written : ``In(1)``
        A register may have changed since the cycle before.
    o_region : ``Out(region_layout(params))``
        The same, as banks need it; combinational.
    i_bounds, o_inside : ``In({base, limit: 64})``, ``Out(1)``
        First and last byte address that metadata may have; that of all regions keeps to them, valid
        while ``o_settled``.  Only with ``protection``.
    o_settled : ``Out(1)``
        Everything has been checked since the last change.
    o_legal : ``Out(1)``
        The table is legal; valid while ``o_settled``.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        bounds = {"i_bounds": In(bounds_layout()["metadata"].shape), "o_inside": Out(1)}
        super().__init__({
            "i_registers": In(region_registers(params)),
            "i_written": In(1),
            **(bounds if params.protection else {}),
            "o_region": Out(region_layout(params)),
            "o_settled": Out(1),
            "o_legal": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        count = self._params.regions
        spans = [self._elaborate_region(m, number) for number in range(count)]
        obeyed, clash = Signal(count, name="obeyed"), Signal(name="clash")
        m.d.sync += obeyed.eq(Cat(is_legal for _, is_legal in spans))
        one, other = self._elaborate_scan(m, data.ArrayLayout(spans[0][0].shape(), count), spans)
        meet = [
            (one[f"{part}_first"] < other[f"{part}_end"])
            & (other[f"{part}_first"] < one[f"{part}_end"])
            for part in ("data", "metadata")
        ]
        with m.If(self.i_written):
            m.d.sync += clash.eq(0)
        with m.Elif(one.used & other.used & (one.number != other.number)):
            m.d.sync += clash.eq(clash | meet[0] | meet[1])
        m.d.comb += self.o_legal.eq(obeyed.all() & ~clash)
        if self._params.protection:
            self._elaborate_bounds(m, one)
        return m

    def _elaborate_bounds(self, m: Module, span) -> None:
        """Look whether the metadata of each region keeps to its bounds, region after region."""
        segment_bits = self._params.segment_bytes.bit_length() - 1
        first, end = (part << segment_bits for part in (span.metadata_first, span.metadata_end))
        outside = Signal()
        with m.If(self.i_written):
            m.d.sync += outside.eq(0)
        with m.Elif(span.used & ~is_inside(self.i_bounds, first, end)):
            m.d.sync += outside.eq(1)
        m.d.comb += self.o_inside.eq(~outside)

    def _elaborate_region(self, m: Module, number: int):
        """Derived fields of a region; its ends, and whether it is legal by itself."""
        params, registers = self._params, self.i_registers[number]
        region, bits = self.o_region[number], params.address_bits
        segment_bits = params.segment_bytes.bit_length() - 1
        turn = params.granularity_bits + params.bank_index_bits
        lane_bits = params.bank_index_bits - params.lane_bits
        end = Signal(bits + 1, name=f"end_{number}")
        # Turns of the banks that the region touches.
        turns = Signal(max(bits - turn, 0) + 2, name=f"turns_{number}")
        metadata_end = region.segment + (region.turns << lane_bits)
        span = Signal(data.StructLayout({
            "data_first": bits - _LINE_BITS, "data_end": len(region.end),
            "metadata_first": len(region.segment), "metadata_end": len(region.segment) + 1,
            "used": 1, "number": range(params.regions),
        }), name=f"span_{number}")  # fmt: skip
        m.d.comb += [
            region.first.eq(registers.data[_LINE_BITS:bits]),
            region.end.eq(region.first + registers.lines),
            region.segment.eq(registers.metadata[segment_bits:bits]),
            end.eq(region.end << _LINE_BITS),
            turns.eq(((end + (1 << turn) - 1) >> turn) - (registers.data[:bits] >> turn)),
            region.turns.eq(
                Mux(span.used, (turns + (1 << params.tag_bits) - 1) >> params.tag_bits, 0)
            ),
            span.data_first.eq(region.first),
            span.data_end.eq(region.end),
            span.metadata_first.eq(region.segment),
            span.metadata_end.eq(metadata_end),
            span.used.eq(registers.lines != 0),
            span.number.eq(number),
        ]
        rules = Cat(
            registers.data[:_LINE_BITS] == 0,
            registers.data[bits:] == 0,
            region.first + registers.lines <= 1 << bits - _LINE_BITS,
            registers.metadata[:segment_bits] == 0,
            registers.metadata[bits:] == 0,
            metadata_end <= 1 << bits - segment_bits,
        )
        return span, ~span.used | rules.all()

    def _elaborate_scan(self, m: Module, shape, spans):
        """Compare two regions at a time, every pair after a change."""
        all_spans = Signal(shape)
        one, other = (Signal(shape.elem_shape, name=name) for name in ("one", "other"))
        numbers = [Signal(range(self._params.regions), name=f"number_{k}") for k in range(2)]
        scanning, looked = Signal(init=1, name="scanning"), Signal(name="looked")
        last = self._params.regions - 1
        m.d.comb += [
            *(all_spans[number].eq(span) for number, (span, _) in enumerate(spans)),
            self.o_settled.eq(~scanning & ~looked),
        ]
        m.d.sync += [
            one.eq(all_spans[numbers[0]]),
            other.eq(all_spans[numbers[1]]),
            looked.eq(scanning),
        ]
        with m.If(scanning):
            m.d.sync += numbers[0].eq(numbers[0] + 1)
            with m.If(numbers[0] == last):
                m.d.sync += [numbers[0].eq(0), numbers[1].eq(numbers[1] + 1)]
                with m.If(numbers[1] == last):
                    m.d.sync += [numbers[1].eq(0), scanning.eq(0)]
        with m.If(self.i_written):
            m.d.sync += [number.eq(0) for number in numbers]
            m.d.sync += [scanning.eq(1), looked.eq(1)]
        return one, other


class RegionLocator(wiring.Component):
    """Finds the region of a segment, and its metadata: granule MOD and DIV the entries.

    The division takes a stage for two bits of the tag.  Latency is three cycles and one for each
    two bits of the tag, throughput one segment a cycle.

    Parameters
    ----------
    params : GpuParams
        Configuration, with several regions.

    Members
    -------
    i_region : ``In(region_layout(params))``
        The table; constant while a segment is in here.
    i : ``In(stream.Signature(segment_layout))``
        Segments.
    o : ``Out(stream.Signature(located_segment(params)))``
        The same, with their places.
    o_empty : ``Out(1)``
        No segment is in here.
    """

    def __init__(self, params: GpuParams):
        self._params = params
        super().__init__({
            "i_region": In(region_layout(params)),
            "i": In(stream.Signature(struct_layout(params.segment_layout))),
            "o": Out(stream.Signature(located_segment(params))),
            "o_empty": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        self._stages: list[StreamRegister] = []
        found = self._elaborate_hit(m)
        placed = self._elaborate_offset(m, found)
        for high in range(self._params.tag_bits, 0, -_TAG_BITS_OF_STAGE):
            placed = self._elaborate_division(m, placed, max(high - _TAG_BITS_OF_STAGE, 0), high)
        located = self._stage(m, "located", located_segment(self._params), placed)
        params, given = self._params, placed.p
        low = params.granularity_bits - (WORD_BYTES.bit_length() - 1) + params.lane_bits
        lane = given.segment.word[low : low + params.bank_index_bits - params.lane_bits]
        within = Cat(lane, given.rest)
        m.d.comb += [
            located.i.p.segment.eq(given.segment),
            located.i.p.monitored.eq(given.monitored),
            located.i.p.index.eq(given.base + within),
            located.i.p.tag.eq(given.tag),
            self.o_empty.eq(~Cat(stage.o.valid for stage in self._stages).any()),
        ]
        if params.valid_segments:
            bit, has_bit = valid_bit(params, within, given.region)
            m.d.comb += [
                located.i.p.bit.eq(bit),
                located.i.p.is_new.eq(given.monitored & has_bit),
            ]
        connect(m, located.o, flipped(self.o))
        return m

    def _stage(self, m: Module, name: str, shape, before) -> StreamRegister:
        """A register after stream ``before``; the caller sets its payload."""
        m.submodules[name] = stage = StreamRegister(shape)
        m.d.comb += [stage.i.valid.eq(before.valid), before.ready.eq(stage.i.ready)]
        self._stages.append(stage)
        return stage

    def _elaborate_hit(self, m: Module):
        """Which region an access lies in."""
        segment = struct_layout(self._params.segment_layout)
        shape = data.StructLayout({"segment": segment, "hit": self._params.regions})
        stage = self._stage(m, "hit", shape, self.i)
        line = self.i.p.word[_LINE_BITS - (WORD_BYTES.bit_length() - 1) :]
        is_access = self.i.p.kind != EventKind.FENCE
        m.d.comb += [
            stage.i.p.segment.eq(self.i.p),
            stage.i.p.hit.eq(Cat(
                is_access & (region.turns != 0) & (line >= region.first) & (line < region.end)
                for region in self.i_region
            )),
        ]  # fmt: skip
        return stage.o

    def _elaborate_offset(self, m: Module, found):
        """Turns of the banks from the region's first to the access, and what divides them."""
        params = self._params
        turn = params.granularity_bits + params.bank_index_bits
        firsts = [(region.first << _LINE_BITS) >> turn for region in self.i_region]
        stage = self._stage(m, "offset", self._placed(), found)
        given, hit = stage.i.p, found.p.hit
        m.d.comb += [
            given.segment.eq(found.p.segment),
            given.monitored.eq(hit.any()),
            given.rest.eq(
                (found.p.segment.word >> turn - (WORD_BYTES.bit_length() - 1))
                - one_hot_select(hit, firsts)
            ),
            given.base.eq(one_hot_select(hit, (region.segment for region in self.i_region))),
            given.turns.eq(one_hot_select(hit, (region.turns for region in self.i_region))),
        ]
        if params.valid_segments:
            numbers = (Const(n, params.region_number_bits) for n in range(params.regions))
            m.d.comb += given.region.eq(one_hot_select(hit, numbers))
        return stage.o

    def _elaborate_division(self, m: Module, before, low: int, high: int):
        """Bits ``low`` to ``high`` of the tag, the highest first, by restoring division."""
        stage = self._stage(m, f"tag_{low}", self._placed(), before)
        rest = before.p.rest
        m.d.comb += stage.i.p.eq(before.p)
        for bit in reversed(range(low, high)):
            divisor = before.p.turns << bit
            fits = Signal(name=f"fits_{bit}")
            left = Signal.like(before.p.rest, name=f"left_{bit}")
            m.d.comb += [
                fits.eq(rest >= divisor),
                left.eq(Mux(fits, rest - divisor, rest)),
                stage.i.p.tag[bit].eq(fits),
            ]
            rest = left
        m.d.comb += stage.i.p.rest.eq(rest)
        return stage.o

    def _placed(self) -> data.StructLayout:
        """A segment on its way through the division of ``rest`` by ``turns``."""
        params = self._params
        turn = params.granularity_bits + params.bank_index_bits
        return data.StructLayout({
            "segment": struct_layout(params.segment_layout),
            "monitored": 1,
            "rest": max(params.address_bits - turn, 1),
            "base": index_bits(params),
            "turns": turn_bits(params),
            "tag": params.tag_bits,
            "region": params.region_number_bits if params.valid_segments else 0,
        })  # fmt: skip
