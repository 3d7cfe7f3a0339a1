"""Data cache of the example system: direct mapped, write-back or write-through."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.checks import check_integer
from racetrap.rtl.soc.bus import MemorySignature

_WORD_BYTES = 4


class Maintenance(IntEnum):
    """What is done to lines, as the offset of a cache-block instruction says it."""

    INVALIDATE = 0
    CLEAN = 1
    FLUSH = 2


@dataclass(frozen=True)
class CacheParams:
    """Size and kind of a cache.

    Parameters
    ----------
    lines : int
        Lines, a power of two.
    line_bytes : int
        Bytes of a line, a power of two of at least 8.
    write_through : bool
        Whether writes go to memory at once, and allocate no line; otherwise a written line stays
        until it is cleaned or makes room.

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is out of range.
    """

    lines: int = 64
    line_bytes: int = 32
    write_through: bool = False

    def __post_init__(self) -> None:
        for what, value, least in (("Lines", self.lines, 2), ("Line", self.line_bytes, 8)):
            check_integer(f"{what} of the cache", value, least, 4096)
            if value.bit_count() != 1:
                raise ValueError(f"{what} of the cache must be a power of two, not {value}")


def maintenance_signature() -> wiring.Signature:
    """Maintenance of the line of ``address``, or of all; ``ready`` is high when it is done."""
    return wiring.Signature({
        "valid": Out(1), "kind": Out(Maintenance), "is_all": Out(1), "address": Out(32),
        "ready": In(1),
    })  # fmt: skip


class Cache(wiring.Component):
    """Answers from its lines, and moves whole lines between itself and memory.

    A hit takes three cycles, a write-through or an uncached access as long as memory and one.  A
    miss takes two cycles more, and for each word filled as long as memory; for each word written
    back as long as memory and one.  Maintenance of a line that is not dirty takes two cycles, of
    the whole cache one for each line and one.

    Parameters
    ----------
    params : CacheParams
        Size and kind.

    Members
    -------
    cpu : ``In(MemorySignature)``
        Accesses of the CPU.
    i_is_cached : ``In(1)``
        The access uses the cache; otherwise it goes to memory, whatever the cache holds.
    maintenance : ``In(maintenance_signature)``
        Maintenance, which goes first.
    memory : ``Out(MemorySignature)``
        Main memory.
    """

    def __init__(self, params: CacheParams):
        self._params = params
        super().__init__({
            "cpu": In(MemorySignature()),
            "i_is_cached": In(1),
            "maintenance": In(maintenance_signature()),
            "memory": Out(MemorySignature()),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        params = self._params
        words = params.line_bytes // _WORD_BYTES
        self._offset_bits = params.line_bytes.bit_length() - 1
        self._index_bits = params.lines.bit_length() - 1
        tag_bits = 32 - self._offset_bits - self._index_bits
        m.submodules.data = values = Memory(shape=32, depth=params.lines * words, init=[])
        m.submodules.tags = tags = Memory(shape=tag_bits, depth=params.lines, init=[])
        self._read, self._write = values.read_port(), values.write_port(granularity=8)
        self._tag, self._new_tag = tags.read_port(domain="comb"), tags.write_port()
        self._valid, self._dirty = (Signal(params.lines, name=name) for name in ("valid", "dirty"))
        self._word = Signal(range(words), name="word")
        self._is_maintaining = Signal(name="is_maintaining")
        self._walk = Signal(self._index_bits, name="walk")
        self._look_up(m)
        with m.FSM():
            self._idle(m)
            self._access(m)
            self._evict(m)
            self._fill(m)
            self._maintain(m)
        return m

    def _look_up(self, m: Module) -> None:
        """The line of the access or the maintenance, and whether it is there."""
        wanted, offset, index_bits = Signal(32), self._offset_bits, self._index_bits
        self._index, self._hit = Signal(index_bits, name="index"), Signal(name="hit")
        address = Mux(self._is_maintaining, self.maintenance.address, self.cpu.address)
        m.d.comb += [
            wanted.eq(address),
            self._index.eq(wanted[offset : offset + index_bits]),
            self._tag.addr.eq(self._index), self._new_tag.addr.eq(self._index),
            self._new_tag.data.eq(wanted[offset + index_bits :]),
            self._hit.eq(
                self._valid.bit_select(self._index, 1)
                & (self._tag.data == wanted[offset + index_bits :])
            ),
            self._read.addr.eq(Cat(wanted[2:offset], self._index)),
            self._write.addr.eq(Cat(wanted[2:offset], self._index)),
        ]  # fmt: skip
        with m.If(self._is_maintaining & self.maintenance.is_all):
            m.d.comb += self._index.eq(self._walk)

    def _idle(self, m: Module) -> None:
        with m.State("IDLE"):
            m.d.sync += [self._walk.eq(0), self._word.eq(0)]
            with m.If(self.maintenance.valid):
                m.d.sync += self._is_maintaining.eq(1)
                m.next = "MAINTAIN"
            with m.Elif(self.cpu.valid):
                m.next = "PASS"
                with m.If(self.i_is_cached):
                    m.next = "LOOK_UP"

    def _access(self, m: Module) -> None:
        cpu, memory, is_write = self.cpu, self.memory, self.cpu.wstrb.any()
        with m.State("LOOK_UP"):
            m.d.comb += self._write.data.eq(cpu.wdata)
            with m.If(self._hit):
                m.d.comb += self._write.en.eq(cpu.wstrb)
                m.next = "ANSWER"
                if self._params.write_through:
                    with m.If(is_write):
                        m.next = "PASS"
                else:
                    with m.If(is_write):
                        m.d.sync += self._dirty.bit_select(self._index, 1).eq(1)
            with m.Elif(is_write & self._params.write_through):
                m.next = "PASS"
            with m.Elif(self._valid.bit_select(self._index, 1)
                        & self._dirty.bit_select(self._index, 1)):  # fmt: skip
                m.next = "EVICT"
            with m.Else():
                m.next = "FILL"
        with m.State("ANSWER"):
            m.d.comb += [cpu.ready.eq(1), cpu.rdata.eq(self._read.data)]
            m.next = "IDLE"
        with m.State("PASS"):
            m.d.comb += [
                memory.valid.eq(1), memory.address.eq(cpu.address), memory.wdata.eq(cpu.wdata),
                memory.wstrb.eq(cpu.wstrb), cpu.ready.eq(memory.ready), cpu.rdata.eq(memory.rdata),
            ]  # fmt: skip
            with m.If(memory.ready):
                m.next = "IDLE"

    def _evict(self, m: Module) -> None:
        """Write a line back word by word, for a fill or for maintenance."""
        memory, word = self.memory, self._word
        base = Cat(self._index, self._tag.data)
        for state in ("EVICT", "WRITE_BACK"):
            with m.State(state):
                m.d.comb += self._read.addr.eq(Cat(word, self._index))
                if state == "EVICT":
                    m.next = "WRITE_BACK"
                    continue
                m.d.comb += [
                    memory.valid.eq(1), memory.address.eq(Cat(0, 0, word, base)),
                    memory.wdata.eq(self._read.data), memory.wstrb.eq(-1),
                ]  # fmt: skip
                with m.If(memory.ready):
                    m.d.sync += word.eq(word + 1)
                    m.next = "EVICT"
                    with m.If(word.all()):
                        m.d.sync += self._dirty.bit_select(self._index, 1).eq(0)
                        m.next = "FILL"
                        with m.If(self._is_maintaining):
                            m.next = "MAINTAIN"

    def _fill(self, m: Module) -> None:
        memory, word = self.memory, self._word
        with m.State("FILL"):
            m.d.comb += [
                memory.valid.eq(1),
                memory.address.eq(Cat(0, 0, word, self.cpu.address[self._offset_bits :])),
                self._write.addr.eq(Cat(word, self._index)),
                self._write.data.eq(memory.rdata),
                self._write.en.eq(memory.ready.replicate(_WORD_BYTES)),
            ]
            with m.If(memory.ready):
                m.d.sync += word.eq(word + 1)
                with m.If(word.all()):
                    m.d.comb += self._new_tag.en.eq(1)
                    m.d.sync += self._valid.bit_select(self._index, 1).eq(1)
                    m.next = "LOOK_UP"

    def _maintain(self, m: Module) -> None:
        """Maintain a line, or the lines one after another."""
        maintenance, index = self.maintenance, self._index
        is_meant, cleans = Signal(), Signal()
        m.d.comb += [
            is_meant.eq(Mux(maintenance.is_all, self._valid.bit_select(index, 1), self._hit)),
            cleans.eq(maintenance.kind != Maintenance.INVALIDATE),
        ]
        with m.State("MAINTAIN"):
            with m.If(is_meant & cleans & self._dirty.bit_select(index, 1)):
                m.next = "EVICT"
            with m.Else():
                with m.If(is_meant & (maintenance.kind != Maintenance.CLEAN)):
                    m.d.sync += [
                        self._valid.bit_select(index, 1).eq(0),
                        self._dirty.bit_select(index, 1).eq(0),
                    ]
                m.d.sync += self._walk.eq(self._walk + 1)
                with m.If(~maintenance.is_all | self._walk.all()):
                    m.d.comb += maintenance.ready.eq(1)
                    m.d.sync += self._is_maintaining.eq(0)
                    m.next = "IDLE"
