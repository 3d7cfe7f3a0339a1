"""Example system around any core: memory, a DMA engine, taps and the bus monitor."""

from __future__ import annotations

from amaranth.hdl import (
    Cat,
    ClockDomain,
    DomainRenamer,
    Module,
    Mux,
    ResetSignal,
    Signal,
    Value,
)
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.taps.params import Attribute
from racetrap.golden_model.noncoherent.taps.rvfi_tap import RETIRED_LAYOUT
from racetrap.rtl.common.axi import Axi4WriteSignature
from racetrap.rtl.common.layout import struct_layout
from racetrap.rtl.noncoherent.layouts import trace_signature
from racetrap.rtl.noncoherent.system import NoncoherentSystem
from racetrap.rtl.noncoherent.taps.address_map import AddressMap, windows_layout
from racetrap.rtl.noncoherent.taps.descriptor_tap import DescriptorTap
from racetrap.rtl.noncoherent.taps.rvfi_tap import RvfiTap
from racetrap.rtl.noncoherent.taps.tap_queue import TapQueue
from racetrap.rtl.soc.bus import MemorySignature
from racetrap.rtl.soc.dma_engine import DmaEngine, engine_registers
from racetrap.rtl.soc.params import (
    CONTROL,
    CONTROL_BASE,
    DEVICE_BYTES,
    ENGINE_BASE,
    MONITOR_BASE,
    WINDOWS,
    WINDOWS_AT,
    SocParams,
)
from racetrap.rtl.soc.register_bridge import RegisterBridge


class SocSystem(wiring.Component):
    """A system whose memory, console and monitor's software are outside.

    Each core has a subclass, which adds it and its cache.

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
    i_monitor_clk : ``In(1)``
        Clock of the monitor: that of the system, or none in cycles in which nothing is in it.
    o_monitor_busy : ``Out(1)``
        Something is in the monitor, or comes, in this cycle.  Registers at its ports may change for
        four cycles more.
    software : ``In(MemorySignature)``
        The monitor's registers for software outside, before that of the core.
    m_axi_report, trace
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
            "i_monitor_clk": In(1),
            "o_monitor_busy": Out(1),
            "software": In(MemorySignature()),
            "m_axi_report": Out(
                Axi4WriteSignature(address_bits=monitor.address_bits, data_bits=64, id_bits=1)
            ),
            "trace": Out(trace_signature(monitor)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.engine = self._engine = DmaEngine()
        m.submodules.bridge = self._bridge = RegisterBridge()
        self._bus = MemorySignature().create()
        self._tag, self._windows = Signal(32), Signal(windows_layout(self._taps))
        self._core(m)
        self._route(m)
        self._control(m)
        wiring.connect(m, self._engine.memory, wiring.flipped(self.engine_memory))
        m.d.comb += [
            self._engine.i_delay.eq(self.i_delay), self.o_engine_byte.eq(self._engine.o_byte)
        ]  # fmt: skip
        self._watch(m)
        return m

    def _core(self, m: Module) -> None:
        """Add the core: it drives ``self._bus``, ``o_retired`` and ``o_trap``."""
        raise NotImplementedError

    def _memory(self, m: Module, accesses: wiring.PureInterface) -> None:
        """Lead the core's accesses to memory, through the cache if that is not the core's own."""
        raise NotImplementedError

    def _is_cached(self, m: Module, address: Value) -> Value:
        """Whether an access that comes now to an address uses the cache."""
        m.submodules.map = places = AddressMap(self._taps)
        m.d.comb += [places.i_address.eq(address), places.i_windows.eq(self._windows)]
        return (places.o_attribute == Attribute.CACHED) & ~self.o_device_mode

    def _route(self, m: Module) -> None:
        """Registers of devices, or memory."""
        bus, cpu = self._bus, MemorySignature().create()
        engine, monitor = self._engine.bus, self._bridge.masters[1]
        is_engine, is_monitor = (_is_page(bus.address, at) for at in (ENGINE_BASE, MONITOR_BASE))
        self._is_control, self._register = Signal(), Signal(32)
        m.d.comb += [
            self._is_control.eq(bus.valid & _is_page(bus.address, CONTROL_BASE)),
            cpu.valid.eq(bus.valid & ~is_engine & ~is_monitor & ~self._is_control),
            engine.valid.eq(bus.valid & is_engine), monitor.valid.eq(bus.valid & is_monitor),
            bus.ready.eq(cpu.ready | engine.ready | monitor.ready | self._is_control),
            bus.rdata.eq(
                Mux(is_engine, engine.rdata, Mux(is_monitor, monitor.rdata,
                    Mux(self._is_control, self._register, cpu.rdata)))
            ),
        ]  # fmt: skip
        for port in (cpu, engine, monitor):
            m.d.comb += [
                port.address.eq(bus.address), port.wdata.eq(bus.wdata), port.wstrb.eq(bus.wstrb)
            ]  # fmt: skip
        self._memory(m, cpu)

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
        cache = self._params.cache
        for name, value in (("line_bytes", cache.line_bytes),
                            ("maintains_lines", self._params.maintains_lines)):  # fmt: skip
            with m.If(offset == CONTROL[name]):
                m.d.comb += self._register.eq(int(value))

    def _watch(self, m: Module) -> None:
        """Taps, queue and monitor."""
        monitor_params, retired, bus = self._taps.monitor, self.o_retired, self._engine.bus
        m.submodules.rvfi_tap = tap = RvfiTap(self._taps)
        m.submodules.descriptor_tap = descriptors = DescriptorTap(
            monitor_params, engine_registers(ENGINE_BASE)
        )
        m.submodules.queue = queue = TapQueue(monitor_params, 4, self._taps.depth)
        monitor = NoncoherentSystem(monitor_params)
        m.submodules.monitor = DomainRenamer("monitor")(monitor)
        m.domains.monitor = clock = ClockDomain()
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
            self.o_lost.eq(queue.o_lost), clock.clk.eq(self.i_monitor_clk),
            clock.rst.eq(ResetSignal()),
            self.o_monitor_busy.eq(
                queue.o.valid | ~monitor.is_idle | self._bridge.registers.bready
            ),
            self.o_operation.valid.eq(queue.o.valid & queue.o.ready),
            self.o_operation.payload.eq(queue.o.payload),
        ]  # fmt: skip
        wiring.connect(m, queue.o, monitor.i_operation)
        wiring.connect(m, self._bridge.registers, monitor.s_axil)
        wiring.connect(m, wiring.flipped(self.software), self._bridge.masters[0])
        for name in ("m_axi_report", "trace"):
            wiring.connect(m, getattr(monitor, name), wiring.flipped(getattr(self, name)))


def _is_page(address: Value, base: int) -> Value:
    """Whether an address is in the space of the device at ``base``."""
    bits = DEVICE_BYTES.bit_length() - 1
    return address[bits:] == base >> bits
