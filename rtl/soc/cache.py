"""Data cache of the example system: of one way or several, write-back or write-through."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.checks import check_integer
from racetrap.rtl.soc.bus import MemorySignature
from racetrap.rtl.soc.way_choice import WayChoice

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
        Lines of all ways together, a power of two; two of each way at least.
    line_bytes : int
        Bytes of a line, a power of two of at least 8.
    write_through : bool
        Whether writes go to memory at once, and allocate no line; otherwise a written line stays
        until it is cleaned or makes room.
    ways : int
        Lines that an address may be in: 1 (direct mapped), 2 or 4.  A way without a line is filled
        first, then one by tree LRU (``WayChoice``).

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is out of range.
    """

    lines: int = 64
    line_bytes: int = 32
    write_through: bool = False
    ways: int = 1

    def __post_init__(self) -> None:
        for what, value, least in (("Lines", self.lines, 2), ("Line", self.line_bytes, 8)):
            check_integer(f"{what} of the cache", value, least, 4096)
            if value.bit_count() != 1:
                raise ValueError(f"{what} of the cache must be a power of two, not {value}")
        check_integer("Ways of the cache", self.ways, 1, 4)
        if self.ways.bit_count() != 1:
            raise ValueError(f"Ways of the cache must be 1, 2 or 4, not {self.ways}")
        if self.sets < 2:
            raise ValueError(
                f"Lines of the cache must be at least {2 * self.ways}, two of each way, "
                f"not {self.lines}"
            )

    @property
    def sets(self) -> int:
        """Sets, each of a line of each way."""
        return self.lines // self.ways


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
        self._set_bits = params.sets.bit_length() - 1
        self._tag_bits = tag_bits = 32 - self._offset_bits - self._set_bits
        m.submodules.data = values = Memory(shape=32, depth=params.lines * words, init=[])
        m.submodules.tags = tags = Memory(shape=tag_bits * params.ways, depth=params.sets, init=[])
        self._read, self._write = values.read_port(), values.write_port(granularity=8)
        self._tag = tags.read_port(domain="comb")
        self._new_tag = tags.write_port(granularity=tag_bits)
        self._valid, self._dirty = (Signal(params.lines, name=name) for name in ("valid", "dirty"))
        self._word = Signal(range(words), name="word")
        self._is_maintaining = Signal(name="is_maintaining")
        self._walk = Signal(range(params.lines), name="walk")
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
        params, wanted = self._params, Signal(32, name="wanted")
        offset, top = self._offset_bits, self._offset_bits + self._set_bits
        # The index of a line is its set, and its way above it.
        self._index, self._hit = Signal(range(params.lines), name="index"), Signal(name="hit")
        self._set = self._index if params.ways == 1 else Signal(range(params.sets), name="set")
        address = Mux(self._is_maintaining, self.maintenance.address, self.cpu.address)
        present = [
            self._valid[way * params.sets :][: params.sets].bit_select(self._set, 1)
            for way in range(params.ways)
        ]
        hits = [
            present[way] & (self._tag.data.word_select(way, self._tag_bits) == wanted[top:])
            for way in range(params.ways)
        ]
        m.d.comb += [
            wanted.eq(address),
            self._set.eq(wanted[offset:top]),
            self._tag.addr.eq(self._set), self._new_tag.addr.eq(self._set),
            self._new_tag.data.eq(wanted[top:].replicate(params.ways)),
            self._hit.eq(reduce(or_, hits)),
            self._read.addr.eq(Cat(wanted[2:offset], self._index)),
            self._write.addr.eq(Cat(wanted[2:offset], self._index)),
        ]  # fmt: skip
        with m.If(self._is_maintaining & self.maintenance.is_all):
            m.d.comb += self._set.eq(self._walk[: self._set_bits])
        self._line_tag, self._enables = self._tag.data, Const(1, 1)
        if params.ways > 1:
            self._choose(m, Cat(present), Cat(hits))

    def _choose(self, m: Module, present: Value, hits: Value) -> None:
        """The way of the line, which is that of the walk in maintenance of all."""
        ways = self._params.ways
        m.submodules.choice = self._choice = choice = WayChoice(self._params.sets, ways)
        way = Signal(range(ways), name="way")
        m.d.comb += [
            choice.i_set.eq(self._set), choice.i_present.eq(present), choice.i_hits.eq(hits),
            way.eq(choice.o_way), self._index.eq(Cat(self._set, way)),
        ]  # fmt: skip
        with m.If(self._is_maintaining & self.maintenance.is_all):
            m.d.comb += way.eq(self._walk[self._set_bits :])
        self._line_tag = self._tag.data.word_select(way, self._tag_bits)
        self._enables = Cat(way == number for number in range(ways))

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
                if self._params.ways > 1:
                    m.d.comb += self._choice.i_is_used.eq(1)
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
        base = Cat(self._set, self._line_tag)
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
                    m.d.comb += self._new_tag.en.eq(self._enables)
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
