"""DMA engine of the example system: copies rows of bytes between memory and a device's memory."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, fifo, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.taps.params import EngineRegisters
from racetrap.rtl.soc.bus import MemorySignature

#: Byte offset of each register.  ``quiet`` is ``status`` for software that does not wait for the
#: engine's work, and tells whether the queue has room.
REGISTERS = {
    "address": 0x00, "length": 0x04, "rows": 0x08, "stride": 0x0C, "device": 0x10,
    "device_stride": 0x14, "start": 0x18, "status": 0x1C, "quiet": 0x20,
}  # fmt: skip
#: Values of ``start``.
START_READ, START_WRITE = 1, 2
#: Bit of ``status`` and ``quiet``: nothing is in flight; bit of ``quiet``: the queue has room.
DONE, ROOM = 1, 2
_COMMAND = data.StructLayout({
    "address": 32, "length": 32, "rows": 32, "stride": 32, "device": 32, "device_stride": 32,
    "is_write": 1,
})  # fmt: skip


def engine_registers(base: int) -> EngineRegisters:
    """The registers of an engine at ``base``, as a tap sees them."""
    at = {name: base + offset for name, offset in REGISTERS.items()}
    return EngineRegisters(
        source=at["address"], target=at["address"], length=at["length"], rows=at["rows"],
        stride=at["stride"], start=at["start"], status=at["status"], read_mask=START_READ,
        write_mask=START_WRITE, done_mask=DONE,
    )  # fmt: skip


class DmaEngine(wiring.Component):
    """Executes commands in order, byte by byte; bypasses all caches.

    Each byte takes two accesses to memory.  A command that finds the queue full is dropped, and one
    of no bytes does nothing.

    Parameters
    ----------
    depth : int
        Commands that wait.

    Members
    -------
    bus : ``In(MemorySignature)``
        Registers, in whole words; answered in the same cycle.
    memory : ``Out(MemorySignature)``
        Main memory.
    o_byte : ``Out(2)``
        Which byte of the word read the engine uses.
    i_delay : ``In(16)``
        Cycles before the command that starts now.
    """

    def __init__(self, depth: int = 8):
        self._depth = depth
        super().__init__({
            "bus": In(MemorySignature()),
            "memory": Out(MemorySignature()),
            "o_byte": Out(2),
            "i_delay": In(16),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = fifo.SyncFIFO(width=_COMMAND.size, depth=self._depth)
        command = Signal(_COMMAND)
        is_idle = Signal()
        m.d.comb += is_idle.eq(~queue.r_rdy)
        self._take(m, queue, is_idle)
        m.d.comb += Value.cast(command).eq(queue.r_data)
        self._copy(m, queue, command)
        return m

    def _take(self, m: Module, queue: fifo.SyncFIFO, is_idle: Value) -> None:
        """Registers: a write to ``start`` puts what they hold into the queue."""
        bus, shadow = self.bus, Signal(_COMMAND)
        offset = bus.address[:8]
        writes = bus.valid & bus.wstrb.any()
        starts = writes & (offset == REGISTERS["start"])
        m.d.comb += bus.ready.eq(bus.valid)
        for name in ("address", "length", "rows", "stride", "device", "device_stride"):
            with m.If(writes & (offset == REGISTERS[name])):
                m.d.sync += shadow[name].eq(bus.wdata)
        queued = Signal(_COMMAND)
        m.d.comb += [
            queued.eq(shadow),
            queued.is_write.eq(bus.wdata == START_WRITE),
            queue.w_data.eq(queued),
            queue.w_en.eq(starts),
        ]
        with m.Switch(offset):
            with m.Case(REGISTERS["status"]):
                m.d.comb += bus.rdata.eq(is_idle)
            with m.Case(REGISTERS["quiet"]):
                m.d.comb += bus.rdata.eq(Cat(is_idle, queue.w_rdy))

    def _copy(self, m: Module, queue: fifo.SyncFIFO, command: data.View) -> None:
        delay, row, place = Signal(16), Signal(32), Signal(32)
        memory_row, device_row, byte = Signal(32), Signal(32), Signal(8)
        at_memory, at_device = memory_row + place, device_row + place
        source = Signal(32)
        target = Signal(32)
        m.d.comb += [
            source.eq(Mux(command.is_write, at_device, at_memory)),
            target.eq(Mux(command.is_write, at_memory, at_device)),
        ]
        memory = self.memory
        m.d.comb += self.o_byte.eq(source[:2])
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [
                    delay.eq(self.i_delay), row.eq(0), place.eq(0), memory_row.eq(command.address),
                    device_row.eq(command.device),
                ]  # fmt: skip
                with m.If(queue.r_rdy):
                    m.next = "DELAY"
            with m.State("DELAY"):
                m.d.sync += delay.eq(delay - 1)
                with m.If(delay == 0):
                    m.next = "READ"
                    with m.If((command.length == 0) | (command.rows == 0)):
                        m.next = "DONE"
            with m.State("READ"):
                m.d.comb += [memory.valid.eq(1), memory.address.eq(Cat(0, 0, source[2:]))]
                with m.If(memory.ready):
                    m.d.sync += byte.eq(memory.rdata.word_select(source[:2], 8))
                    m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += [
                    memory.valid.eq(1), memory.address.eq(Cat(0, 0, target[2:])),
                    memory.wdata.eq(byte.replicate(4)), memory.wstrb.eq(1 << target[:2]),
                ]  # fmt: skip
                with m.If(memory.ready):
                    m.next = "READ"
                    m.d.sync += place.eq(place + 1)
                    with m.If(place + 1 == command.length):
                        m.d.sync += [
                            place.eq(0), row.eq(row + 1),
                            memory_row.eq(memory_row + command.stride),
                            device_row.eq(device_row + command.device_stride),
                        ]  # fmt: skip
                        with m.If(row + 1 == command.rows):
                            m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += queue.r_en.eq(1)
                m.next = "IDLE"
