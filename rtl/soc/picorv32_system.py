"""Example system: PicoRV32 with a cache, a DMA engine, taps and the bus monitor.

The core is not part of this project: its Verilog comes from a package.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.taps.params import (
    ZICBOM,
    Attribute,
    MaintenanceWord,
    Region,
    TapParams,
)
from racetrap.golden_model.noncoherent.taps.rvfi_tap import RETIRED_LAYOUT
from racetrap.golden_model.trace.noncoherent.operations import OperationKind
from racetrap.rtl.common.axi import Axi4WriteSignature, AxiLiteSignature
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.common.registers import REGISTER_ADDRESS_BITS
from racetrap.rtl.noncoherent.layouts import trace_signature
from racetrap.rtl.noncoherent.system import NoncoherentSystem
from racetrap.rtl.noncoherent.taps.address_map import AddressMap, windows_layout
from racetrap.rtl.noncoherent.taps.descriptor_tap import DescriptorTap
from racetrap.rtl.noncoherent.taps.rvfi_tap import RvfiTap
from racetrap.rtl.noncoherent.taps.tap_queue import TapQueue
from racetrap.rtl.soc.bus import MemorySignature
from racetrap.rtl.soc.cache import Cache, CacheParams, Maintenance
from racetrap.rtl.soc.dma_engine import DmaEngine, engine_registers

#: Memory for code, stacks and what belongs to devices; engines reach it, the cache does not.
LOCAL_BASE, LOCAL_BYTES = 0x0000_0000, 1 << 20
#: Memory behind the cache.
MEMORY_BASE, MEMORY_BYTES = 0x2000_0000, 1 << 20
ENGINE_BASE, CONTROL_BASE, DEVICE_BYTES = 0x4000_0000, 0x4000_1000, 0x1000
#: Byte offset of each control register; windows follow, each with its first byte and its end.
CONTROL = {"exit": 0x00, "console": 0x04, "tag": 0x08, "device_mode": 0x0C}
WINDOWS_AT = 0x40
WINDOWS = 8
#: Instructions of the whole cache, of the space for custom ones: the kind is in bits 25 and 26.
_ALL_OPCODE, _ALL_KIND_AT = 0x2B, 25
_ALL_WORDS = tuple(
    MaintenanceWord(0xFFFF_FFFF, _ALL_OPCODE | kind << _ALL_KIND_AT, operation)
    for kind, operation in (
        (Maintenance.INVALIDATE, OperationKind.INVALIDATE_ALL),
        (Maintenance.CLEAN, OperationKind.CLEAN_ALL),
        (Maintenance.FLUSH, OperationKind.FLUSH_ALL),
    )
)
_CORE_SETTINGS = {
    "ENABLE_COUNTERS": 0, "ENABLE_COUNTERS64": 0, "BARREL_SHIFTER": 1, "ENABLE_PCPI": 1,
    "ENABLE_FAST_MUL": 1, "ENABLE_DIV": 1, "PROGADDR_RESET": LOCAL_BASE,
}  # fmt: skip


@dataclass(frozen=True)
class SocParams:
    """Parameters of the system.

    Parameters
    ----------
    cache : CacheParams
        The cache; the monitor has its lines.
    entries : int
        Entries of each set of the monitor.
    depth : int
        Places of the queue in front of it.
    """

    cache: CacheParams = field(default_factory=lambda: CacheParams(line_bytes=64))
    entries: int = 8
    depth: int = 16

    @property
    def taps(self) -> TapParams:
        """What the taps know."""
        line = self.cache.line_bytes
        taps = TapParams(
            regions=(Region(MEMORY_BASE, MEMORY_BYTES, Attribute.CACHED),),
            windows=WINDOWS,
            maintenance=(*ZICBOM, *_ALL_WORDS),
            depth=self.depth,
        )
        monitor = replace(
            taps.monitor, line_bytes=line, granule_bytes=line, entries=self.entries,
            write_through=self.cache.write_through,
        )  # fmt: skip
        return replace(taps, monitor=monitor)


class Picorv32System(wiring.Component):
    """A system whose memory, console and monitor's software are outside.

    Parameters
    ----------
    params : SocParams
        Configuration.

    Members
    -------
    memory, engine_memory : ``Out(MemorySignature)``
        Memory as the cache and the engine access it.
    i_delay : ``In(16)``
        Cycles before the engine's next command.
    o_exit, o_console : ``Out({valid, value})``
        What the program writes to the registers of these names.
    o_trap : ``Out(1)``
        The core has met an error and stands.
    o_retired : ``Out({valid, payload: RETIRED_LAYOUT})``
        Instructions, with ``o_rdata`` and ``o_wdata``: the words read and written.
    o_device_mode : ``Out(1)``
        Software runs a device's work: its accesses bypass the cache and are not the CPU's.
    o_engine_byte : ``Out(2)``
        Which byte of the word read the engine uses.
    o_lost : ``Out(4)``
        Operations of this cycle that the queue has lost.
    o_operation : ``Out({valid, payload: operation_layout})``
        Operations that the monitor takes.
    s_axil, m_axi_report, trace
        Those of the monitor.
    """

    def __init__(self, params: SocParams):
        self._params = params
        self._taps = taps = params.taps
        monitor = taps.monitor
        word = wiring.Signature({"valid": Out(1), "value": Out(32)})
        super().__init__({
            "memory": Out(MemorySignature()),
            "engine_memory": Out(MemorySignature()),
            "i_delay": In(16),
            "o_engine_byte": Out(2),
            "o_exit": Out(word),
            "o_console": Out(word),
            "o_trap": Out(1),
            "o_retired": Out(wiring.Signature({
                "valid": Out(1), "payload": Out(struct_layout(RETIRED_LAYOUT)),
                "rdata": Out(32), "wdata": Out(32),
            })),
            "o_device_mode": Out(1),
            "o_lost": Out(4),
            "o_operation": Out(wiring.Signature({
                "valid": Out(1), "payload": Out(struct_layout(monitor.operation_layout)),
            })),
            "s_axil": In(AxiLiteSignature(address_bits=REGISTER_ADDRESS_BITS)),
            "m_axi_report": Out(
                Axi4WriteSignature(address_bits=monitor.address_bits, data_bits=64, id_bits=1)
            ),
            "trace": Out(trace_signature(monitor)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.cache = self._cache = Cache(self._params.cache)
        m.submodules.engine = self._engine = DmaEngine()
        self._bus = MemorySignature().create()
        self._tag, self._windows = Signal(32), Signal(windows_layout(self._taps))
        self._core(m)
        self._route(m)
        self._control(m)
        wiring.connect(m, self._cache.memory, wiring.flipped(self.memory))
        wiring.connect(m, self._engine.memory, wiring.flipped(self.engine_memory))
        m.d.comb += [
            self._engine.i_delay.eq(self.i_delay), self.o_engine_byte.eq(self._engine.o_byte)
        ]  # fmt: skip
        self._watch(m)
        return m

    def _core(self, m: Module) -> None:
        """The core; its cache-block instructions go to the cache as to a coprocessor."""
        bus, maintenance = self._bus, self._cache.maintenance
        valid, insn, rs1 = Signal(), Signal(32), Signal(32)
        is_line, is_all, retired = Signal(), Signal(), self.o_retired
        maintains = is_line | is_all
        m.d.comb += [
            is_line.eq(Cat((insn & word.mask) == word.match for word in ZICBOM).any()),
            is_all.eq(Cat(insn == word.match for word in _ALL_WORDS).any()),
            maintenance.valid.eq(valid & maintains), maintenance.address.eq(rs1),
            maintenance.is_all.eq(is_all),
            maintenance.kind.eq(Mux(is_all, insn[_ALL_KIND_AT:][:2], insn[20:22])),
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

    def _route(self, m: Module) -> None:
        """Registers of devices, or memory through the cache or past it."""
        bus, cpu = self._bus, self._cache.cpu
        m.submodules.map = places = AddressMap(self._taps)
        is_engine = _is_page(bus.address, ENGINE_BASE)
        self._is_control = Signal()
        m.d.comb += [
            places.i_address.eq(bus.address), places.i_windows.eq(self._windows),
            self._is_control.eq(bus.valid & _is_page(bus.address, CONTROL_BASE)),
            self._cache.i_is_cached.eq(
                (places.o_attribute == Attribute.CACHED) & ~self.o_device_mode
            ),
            cpu.valid.eq(bus.valid & ~is_engine & ~self._is_control),
            self._engine.bus.valid.eq(bus.valid & is_engine),
            bus.ready.eq(cpu.ready | self._engine.bus.ready | self._is_control),
            bus.rdata.eq(Mux(is_engine, self._engine.bus.rdata, cpu.rdata)),
        ]  # fmt: skip
        for port in (cpu, self._engine.bus):
            m.d.comb += [
                port.address.eq(bus.address), port.wdata.eq(bus.wdata), port.wstrb.eq(bus.wstrb)
            ]  # fmt: skip

    def _control(self, m: Module) -> None:
        bus, offset = self._bus, self._bus.address[:12]
        writes = self._is_control & bus.wstrb.any()
        for name, port in (("exit", self.o_exit), ("console", self.o_console)):
            m.d.comb += [
                port.valid.eq(writes & (offset == CONTROL[name])), port.value.eq(bus.wdata)
            ]  # fmt: skip
        stored = [(CONTROL["tag"], self._tag), (CONTROL["device_mode"], self.o_device_mode)]
        for number in range(WINDOWS):
            at = WINDOWS_AT + 8 * number
            stored += [(at, self._windows[number].first), (at + 4, self._windows[number].end)]
        for at, register in stored:
            with m.If(writes & (offset == at)):
                m.d.sync += register.eq(bus.wdata)

    def _watch(self, m: Module) -> None:
        """Taps, queue and monitor."""
        monitor_params, retired, bus = self._taps.monitor, self.o_retired, self._engine.bus
        m.submodules.rvfi_tap = tap = RvfiTap(self._taps)
        m.submodules.descriptor_tap = descriptors = DescriptorTap(
            monitor_params, engine_registers(ENGINE_BASE)
        )
        m.submodules.queue = queue = TapQueue(monitor_params, 4, self._taps.depth)
        m.submodules.monitor = monitor = NoncoherentSystem(monitor_params)
        access = descriptors.i_access
        m.d.comb += [
            tap.i_valid.eq(retired.valid & ~self.o_device_mode),
            tap.i_retired.eq(retired.payload), tap.i_tag.eq(self._tag),
            tap.i_windows.eq(self._windows),
            access.valid.eq(bus.valid & bus.ready), access.is_write.eq(bus.wstrb.any()),
            access.address.eq(bus.address),
            access.data.eq(Mux(bus.wstrb.any(), bus.wdata, bus.rdata)),
            descriptors.i_tag.eq(self._tag),
            Value.cast(queue.i_lanes).eq(Cat(tap.o_lanes, descriptors.o_lanes)),
            self.o_lost.eq(queue.o_lost),
            self.o_operation.valid.eq(queue.o.valid & queue.o.ready),
            self.o_operation.payload.eq(queue.o.payload),
        ]  # fmt: skip
        wiring.connect(m, queue.o, monitor.i_operation)
        for name in ("s_axil", "m_axi_report", "trace"):
            wiring.connect(m, getattr(monitor, name), wiring.flipped(getattr(self, name)))


def _is_page(address: Value, base: int) -> Value:
    """Whether an address is in the space of the device at ``base``."""
    bits = DEVICE_BYTES.bit_length() - 1
    return address[bits:] == base >> bits
