"""Last stage: what a core without RVFI would show there, from the last stage of its pipeline.

Ref: RISC-V Formal Interface (riscv-formal, docs/rvfi.md);
``golden_model/noncoherent/taps/last_stage.py`` (the same fields).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.taps.last_stage import STAGE_LAYOUT, STORE
from racetrap.golden_model.noncoherent.taps.rvfi_tap import LOAD, RETIRED_LAYOUT
from racetrap.rtl.common.layout import struct_layout


class LastStage(wiring.Component):
    """RVFI of an instruction that does not trap, in the same cycle.

    Members
    -------
    i_stage : ``In(STAGE_LAYOUT)``
        The instruction as it leaves the last stage.
    o_retired : ``Out(RETIRED_LAYOUT)``
        The same, as in RVFI.
    """

    def __init__(self) -> None:
        super().__init__({
            "i_stage": In(struct_layout(STAGE_LAYOUT)),
            "o_retired": Out(struct_layout(RETIRED_LAYOUT)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        stage, retired = self.i_stage, self.o_retired
        insn, address, mask = stage.insn, stage.address, Signal(4)
        with m.Switch(insn[12:14]):
            for size in range(4):
                with m.Case(size):
                    bits = (1 << (1 << size)) - 1
                    m.d.comb += mask.eq((Const(bits & 0xF, 4) << address[:2])[:4])
        m.d.comb += [
            retired.insn.eq(insn), retired.pc_rdata.eq(stage.pc),
            retired.rs1_rdata.eq(address - insn[20:].as_signed()),
            retired.mem_addr.eq(Cat(Const(0, 2), address[2:])),
            retired.mem_rmask.eq(Mux(insn[:7] == LOAD, mask, 0)),
            retired.mem_wmask.eq(Mux(insn[:7] == STORE, mask, 0)),
        ]  # fmt: skip
        return m
