"""Example system: VexRiscv with its own write-through cache.

The core is not part of this project: its Verilog comes from a package, and gets what its generator
would have been asked for: which memory is cached, and ports at its last stage.

Ref: VexRiscv, DBusCachedPlugin and StaticMemoryTranslatorPlugin.
"""

from __future__ import annotations

import hashlib

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring

from racetrap.golden_model.noncoherent.taps.params import MaintenanceWord
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from racetrap.rtl.noncoherent.taps.last_stage import LastStage
from racetrap.rtl.soc.bus import MemorySignature
from racetrap.rtl.soc.cache import CacheParams
from racetrap.rtl.soc.memory_arbiter import MemoryArbiter
from racetrap.rtl.soc.params import LOCAL_BASE, SocParams
from racetrap.rtl.soc.system import SocSystem

#: The system as it is: the core's cache has 4 KiB, and one instruction, which flushes all of it.
PARAMS = SocParams(
    cache=CacheParams(lines=128, line_bytes=32, write_through=True),
    maintenance=(MaintenanceWord(0xFFFF_FFFF, 0x0000_500F, OperationKind.FLUSH_ALL),),
    depth=256,
)
#: SHA-256 of ``VexRiscv.v`` in the package's version 1.0.1.post407.
_SHA256 = "10a97e84013b214c9fb480e594e438f8b1b5b76121a2545cb6489c7e29679f76"
#: Ports added to the core: name, bits, and what they show.  An access that misses leaves the last
#: stage without firing, and comes again.
_SHOWN = (
    ("tap_fires", 1, "writeBack_arbitration_isFiring"),
    ("tap_insn", 32, "writeBack_INSTRUCTION"),
    ("tap_pc", 32, "writeBack_PC"),
    ("tap_address", 32, "dataCache_1_io_cpu_writeBack_address"),
    ("tap_rdata", 32, "dataCache_1_io_cpu_writeBack_data"),
    ("tap_wdata", 32, "dataCache_1_io_cpu_writeBack_storeData"),
    ("tap_exception", 1, "CsrPlugin_hadException"),
    ("io_address", 32, "DBusCachedPlugin_mmuBus_rsp_physicalAddress"),
)
#: As generated, memory is uncached if the highest bit of its address is set.
_IO = "assign DBusCachedPlugin_mmuBus_rsp_isIoAccess = "
_IO_BIT = "DBusCachedPlugin_mmuBus_rsp_physicalAddress[31];"
_HEAD = "module VexRiscv (\n"
_LAST_PORT = "  input               reset\n);\n"


def core_with_ports(verilog: str) -> str:
    """The core's Verilog with the ports in ``_SHOWN``, and one that says what is uncached.

    Raises
    ------
    ValueError
        If it is not the Verilog whose signals these are.
    """
    found = hashlib.sha256(verilog.encode()).hexdigest()
    if found != _SHA256:
        raise ValueError(f"SHA-256 of VexRiscv.v must be {_SHA256}, not {found}")
    head, start, rest = verilog.partition(_HEAD)
    ports = "".join(f"  output [{bits - 1}:0] {name},\n" for name, bits, _ in _SHOWN)
    shown = "".join(f"  assign {name} = {value};\n" for name, _, value in _SHOWN)
    rest = rest.replace(_LAST_PORT, _LAST_PORT + shown, 1).replace(
        _IO + _IO_BIT, f"{_IO}io_uncached;", 1
    )
    return f"{head}{start}  input io_uncached,\n{ports}{rest}"


class VexriscvSystem(SocSystem):
    """VexRiscv, whose instructions are taken from the last stage of its pipeline.

    Stores are posted: they reach a device's register some cycles after they retire.  The tap of the
    engine sees them there, and so do the tag and the windows.
    """

    def _core(self, m: Module) -> None:
        m.submodules.last_stage = stage = LastStage()
        self._fetches, retired = MemorySignature().create(), self.o_retired
        address, is_uncached, trap = Signal(32), Signal(), Signal()
        m.d.comb += [
            is_uncached.eq(~self._is_cached(m, address)),
            retired.payload.eq(stage.o_retired),
        ]
        with m.If(trap):
            m.d.sync += self.o_trap.eq(1)
        shown = {
            "fires": retired.valid, "insn": stage.i_stage.insn, "pc": stage.i_stage.pc,
            "address": stage.i_stage.address, "rdata": retired.rdata, "wdata": retired.wdata,
            "exception": trap,
        }  # fmt: skip
        m.submodules.core = Instance(
            "VexRiscv",
            i_clk=ClockSignal(), i_reset=ResetSignal(),
            i_externalResetVector=Const(LOCAL_BASE, 32), i_timerInterrupt=Const(0),
            i_softwareInterrupt=Const(0), i_externalInterruptArray=Const(0, 32),
            o_io_address=address, i_io_uncached=is_uncached,
            **{f"o_tap_{name}": value for name, value in shown.items()},
            **_wishbone(m, "iBus", self._fetches), **_wishbone(m, "dBus", self._bus),
        )  # fmt: skip

    def _memory(self, m: Module, accesses: wiring.PureInterface) -> None:
        m.submodules.arbiter = arbiter = MemoryArbiter()
        for port, master in zip((accesses, self._fetches), arbiter.masters, strict=True):
            wiring.connect(m, port, master)
        wiring.connect(m, arbiter.memory, wiring.flipped(self.memory))


def _wishbone(m: Module, name: str, bus: wiring.PureInterface) -> dict[str, object]:
    """Ports of a bus of the core, which is a memory bus but for its names."""
    cycle, strobe, writes, select = Signal(), Signal(), Signal(), Signal(4)
    place = Signal(30)
    m.d.comb += [
        bus.valid.eq(cycle & strobe), bus.address.eq(Cat(Const(0, 2), place)),
        bus.wstrb.eq(select & writes.replicate(4)),
    ]  # fmt: skip
    return {
        f"o_{name}Wishbone_CYC": cycle, f"o_{name}Wishbone_STB": strobe,
        f"o_{name}Wishbone_WE": writes, f"o_{name}Wishbone_ADR": place,
        f"o_{name}Wishbone_SEL": select, f"o_{name}Wishbone_DAT_MOSI": bus.wdata,
        f"i_{name}Wishbone_DAT_MISO": bus.rdata, f"i_{name}Wishbone_ACK": bus.ready,
        f"i_{name}Wishbone_ERR": Const(0),
    }  # fmt: skip
