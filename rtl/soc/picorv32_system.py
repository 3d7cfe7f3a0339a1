"""Example system: PicoRV32 with a write-back cache of the project's own.

The core is not part of this project: its Verilog comes from a package.
"""

from __future__ import annotations

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Mux, ResetSignal, Signal
from amaranth.lib import wiring

from racetrap.golden_model.noncoherent.taps.params import ZICBOM
from racetrap.golden_model.noncoherent.taps.rvfi_tap import RETIRED_LAYOUT
from racetrap.rtl.soc.cache import Cache
from racetrap.rtl.soc.params import ALL_KIND_AT, ALL_WORDS, LOCAL_BASE, SocParams
from racetrap.rtl.soc.system import SocSystem

#: The system as it is.
PARAMS = SocParams()
_CORE_SETTINGS = {
    "ENABLE_COUNTERS": 0, "ENABLE_COUNTERS64": 0, "BARREL_SHIFTER": 1, "ENABLE_PCPI": 1,
    "ENABLE_FAST_MUL": 1, "ENABLE_DIV": 1, "PROGADDR_RESET": LOCAL_BASE,
}  # fmt: skip


class Picorv32System(SocSystem):
    """PicoRV32, which shows what it retires by RVFI; a cache stands between it and memory."""

    def _core(self, m: Module) -> None:
        """The core; its cache-block instructions go to the cache as to a coprocessor."""
        m.submodules.cache = self._cache = Cache(self._params.cache)
        bus, maintenance = self._bus, self._cache.maintenance
        valid, insn, rs1 = Signal(), Signal(32), Signal(32)
        is_line, is_all, retired = Signal(), Signal(), self.o_retired
        maintains = is_line | is_all
        m.d.comb += [
            is_line.eq(Cat((insn & word.mask) == word.match for word in ZICBOM).any()),
            is_all.eq(Cat(insn == word.match for word in ALL_WORDS).any()),
            maintenance.valid.eq(valid & maintains), maintenance.address.eq(rs1),
            maintenance.is_all.eq(is_all),
            maintenance.kind.eq(Mux(is_all, insn[ALL_KIND_AT:][:2], insn[20:22])),
        ]  # fmt: skip
        outputs = {
            "trap": self.o_trap, "mem_valid": bus.valid, "mem_addr": bus.address,
            "mem_wdata": bus.wdata, "mem_wstrb": bus.wstrb, "pcpi_valid": valid, "pcpi_insn": insn,
            "pcpi_rs1": rs1, "rvfi_valid": retired.valid, "rvfi_mem_rdata": retired.rdata,
            "rvfi_mem_wdata": retired.wdata,
            **{f"rvfi_{name}": retired.payload[name] for name in RETIRED_LAYOUT.fields},
        }  # fmt: skip
        inputs = {
            "clk": ClockSignal(), "resetn": ~ResetSignal(), "mem_ready": bus.ready,
            "mem_rdata": bus.rdata, "pcpi_wr": Const(0), "pcpi_rd": Const(0, 32),
            "pcpi_wait": valid & maintains, "pcpi_ready": maintenance.ready & maintains,
            "irq": Const(0, 32),
        }  # fmt: skip
        m.submodules.core = Instance(
            "picorv32",
            **{f"p_{name}": value for name, value in _CORE_SETTINGS.items()},
            **{f"o_{name}": value for name, value in outputs.items()},
            **{f"i_{name}": value for name, value in inputs.items()},
        )

    def _memory(self, m: Module, accesses: wiring.PureInterface) -> None:
        m.d.comb += self._cache.i_is_cached.eq(self._is_cached(m, accesses.address))
        wiring.connect(m, accesses, self._cache.cpu)
        wiring.connect(m, self._cache.memory, wiring.flipped(self.memory))
