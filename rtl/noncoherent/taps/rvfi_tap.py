"""RVFI tap: from the instructions that a RISC-V core retires to operations.

Ref: RISC-V Formal Interface (riscv-formal, docs/rvfi.md);
``golden_model/noncoherent/taps/rvfi_tap.py`` (the same operations).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.taps.params import Attribute, TapParams
from racetrap.golden_model.noncoherent.taps.rvfi_tap import AMO, LOAD, LOAD_FP, RETIRED_LAYOUT
from racetrap.golden_model.trace.noncoherent.operations import RANGE_KINDS, OperationKind
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.noncoherent.taps.address_map import AddressMap, windows_layout
from racetrap.rtl.noncoherent.taps.layouts import lane_layout

_K = OperationKind


class RvfiTap(wiring.Component):
    """Operations of the instruction retired in the cycle before.

    One instruction a cycle; it has at most two operations, a read and then a write.  The tap never
    waits, and nothing waits for it.

    Parameters
    ----------
    params : TapParams
        The system.

    Members
    -------
    i_valid : ``In(1)``
        An instruction retires (``rvfi_valid``).
    i_retired : ``In(RETIRED_LAYOUT)``
        The instruction, as in RVFI.
    i_tag : ``In(32)``
        Tag of its operations if it is not 0; otherwise they have the PC.
    i_windows : ``In(windows_layout)``
        Memory that software has made uncached.
    o_lanes : ``Out(lane_layout) x 2``
        Read or maintenance, and write; registers.
    """

    def __init__(self, params: TapParams):
        self._params = params
        super().__init__({
            "i_valid": In(1),
            "i_retired": In(struct_layout(RETIRED_LAYOUT)),
            "i_tag": In(32),
            "i_windows": In(windows_layout(params)),
            "o_lanes": Out(data.ArrayLayout(lane_layout(params.monitor), 2)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        retired, lanes = self.i_retired, self.o_lanes
        tag = Mux(self.i_tag.any(), self.i_tag, retired.pc_rdata)
        accepts = self.i_valid & ~retired.trap
        reads = self._read_range(m)
        writes = _masked_range(m, "written", retired.mem_addr, retired.mem_wmask)
        is_maintenance = Cat(
            (retired.insn & word.mask) == word.match for word in self._params.maintenance
        ).any()
        for lane, name, (first, size), kinds in (
            (lanes[0], "read_map", reads, (_K.CACHED_READ, _K.UNCACHED_READ)),
            (lanes[1], "write_map", writes, (_K.CACHED_WRITE, _K.UNCACHED_WRITE)),
        ):
            m.submodules[name] = places = AddressMap(self._params)
            is_cached = places.o_attribute == Attribute.CACHED
            m.d.comb += [places.i_address.eq(first), places.i_windows.eq(self.i_windows)]
            m.d.sync += [
                lane.eq(0),
                lane.valid.eq(
                    accepts & ~is_maintenance & size.any()
                    & (places.o_attribute != Attribute.IGNORED)
                ),
                lane.operation.kind.eq(Mux(is_cached, *kinds)),
                lane.operation.address.eq(places.o_address),
                lane.operation.size.eq(size),
                lane.operation.tag.eq(tag),
            ]  # fmt: skip
        self._maintain(m, accepts, lanes[0])
        return m

    def _read_range(self, m: Module) -> tuple[Value, Value]:
        """First byte and size of what the instruction reads; the size is 0 if it reads nothing."""
        retired = self.i_retired
        insn, first, size = retired.insn, Signal(32), Signal(4)
        by_mask = _masked_range(m, "read", retired.mem_addr, retired.mem_rmask)
        opcode = insn[:7]
        with m.If((opcode == LOAD) & retired.mem_rmask.any()):
            m.d.comb += [
                first.eq(retired.rs1_rdata + insn[20:].as_signed()),
                size.eq(Const(1) << insn[12:14]),
            ]
        with m.Elif((insn[:2] != 3) | opcode.matches(LOAD_FP, AMO)):
            m.d.comb += [first.eq(by_mask[0]), size.eq(by_mask[1])]
        return first, size

    def _maintain(self, m: Module, accepts: Value, lane: data.View) -> None:
        """Replace the read by maintenance; of several words that match, the first counts."""
        m.submodules.line_map = places = AddressMap(self._params)
        m.d.comb += places.i_address.eq(self.i_retired.rs1_rdata)
        for word in reversed(self._params.maintenance):
            has_range = word.kind in RANGE_KINDS
            with m.If(accepts & ((self.i_retired.insn & word.mask) == word.match)):
                m.d.sync += [
                    lane.valid.eq(1),
                    lane.operation.kind.eq(word.kind),
                    lane.operation.address.eq(places.o_address if has_range else 0),
                    lane.operation.size.eq(int(has_range)),
                ]


def _masked_range(m: Module, name: str, address: Value, mask: Value) -> tuple[Value, Value]:
    """First byte of a mask without gaps, and its size."""
    lowest = Signal(range(len(mask)), name=f"{name}_lowest")
    for place in reversed(range(len(mask))):
        with m.If(mask[place]):
            m.d.comb += lowest.eq(place)
    return Cat(lowest, address[len(lowest) :]), sum(mask)
