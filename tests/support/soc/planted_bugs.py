"""Bugs planted in the example systems."""

from racetrap.sim.cosim.verilator.patch import Patch

CACHE = "soc/cache.py"
CACHE_BUGS = {
    "flush-forgets-to-clean": Patch(
        CACHE, "cleans.eq(maintenance.kind != Maintenance.INVALIDATE)",
        "cleans.eq(maintenance.kind == Maintenance.CLEAN)",
    ),
    "write-leaves-the-line-clean": Patch(
        CACHE, "self._dirty.bit_select(self._index, 1).eq(1)",
        "self._dirty.bit_select(self._index, 1).eq(0)",
    ),
    "line-makes-room-unwritten": Patch(
        CACHE, "self._valid.bit_select(self._index, 1) & self._dirty.bit_select(self._index, 1)",
        "0",
    ),
    "last-word-is-not-filled": Patch(
        CACHE, "memory.ready.replicate(_WORD_BYTES)",
        "(memory.ready & ~word.all()).replicate(_WORD_BYTES)",
    ),
    "every-byte-is-written": Patch(
        CACHE, "self._write.en.eq(cpu.wstrb)", "self._write.en.eq(cpu.wstrb.any().replicate(4))"
    ),
    "clean-does-nothing": Patch(
        CACHE, "is_meant & cleans & self._dirty",
        "is_meant & (maintenance.kind == Maintenance.FLUSH) & self._dirty",
    ),
    "all-is-one-line": Patch(CACHE, "~maintenance.is_all | self._walk.all()", "1"),
}  # fmt: skip
WAY_CHOICE = "soc/way_choice.py"
#: Files of the cache, each after those that it uses.
CACHE_FILES = (WAY_CHOICE, CACHE)
#: Faults of a cache of several ways.
WAY_BUGS = {
    "victim-is-written-to-another-address": Patch(
        CACHE, "self._line_tag = self._tag.data.word_select(way, self._tag_bits)",
        "self._line_tag = self._tag.data.word_select(0, self._tag_bits)",
    ),
    "all-is-one-way": Patch(
        CACHE, "~maintenance.is_all | self._walk.all()",
        "~maintenance.is_all | self._walk[: self._set_bits].all()",
    ),
    "line-is-in-all-ways": Patch(
        CACHE, "self._enables = Cat(way == number for number in range(ways))",
        "self._enables = Const(-1, ways)",
    ),
    "way-changes-while-it-makes-room": Patch(
        WAY_CHOICE, "new_tree.en.eq(self.i_is_used)", "new_tree.en.eq(1)"
    ),
}  # fmt: skip
#: Bad choices of a way: the cache is a plain memory with them, too.
CHOICE_BUGS = {
    "use-is-forgotten": Patch(WAY_CHOICE, "new_tree.en.eq(self.i_is_used)", "new_tree.en.eq(0)"),
    "used-half-makes-room": Patch(WAY_CHOICE, "~self.o_way[below]", "self.o_way[below]"),
    "empty-way-stays-empty": Patch(WAY_CHOICE, "~self.i_present[number]", "Const(0)"),
}
_SYSTEM, _VEXRISCV = "soc/system.py", "soc/vexriscv_system.py"
#: Files of VexRiscv's system in which bugs are planted, each after those that it uses.
VEXRISCV_FILES = ("noncoherent/taps/last_stage.py", _SYSTEM, _VEXRISCV)
#: Faults between VexRiscv and its monitor.
VEXRISCV_BUGS = {
    "stores-of-bytes-are-lost": Patch(
        "noncoherent/taps/last_stage.py",
        "Mux(insn[:7] == STORE, mask, 0)",
        "Mux((insn[:7] == STORE) & insn[12:14].any(), mask, 0)",
    ),
    "access-counts-while-it-waits": Patch(
        _VEXRISCV, '"writeBack_arbitration_isFiring"', '"writeBack_arbitration_isValid"'
    ),
    "dma-starts-when-its-store-retires": Patch(
        _SYSTEM,
        """access.valid.eq(bus.valid & bus.ready), access.is_write.eq(bus.wstrb.any()),
        access.address.eq(bus.address), access.data.eq(Mux(bus.wstrb.any(), bus.wdata, bus.rdata)),
        """,
        """Cat(access.valid, access.is_write, access.address, access.data).eq(Mux(
            retired.valid & retired.payload.mem_wmask.any()
            & (retired.payload.mem_addr == engine_registers(ENGINE_BASE).start),
            Cat(Signal(2, init=3), retired.payload.mem_addr, retired.wdata),
            Mux(bus.wstrb.any() & (bus.address == engine_registers(ENGINE_BASE).start), 0,
                Cat(bus.valid & bus.ready, bus.wstrb.any(), bus.address,
                    Mux(bus.wstrb.any(), bus.wdata, bus.rdata))))),
        """,
    ),
    "device-is-watched": Patch(
        _SYSTEM,
        "tap.i_valid.eq(retired.valid & ~self.o_device_mode)",
        "tap.i_valid.eq(retired.valid)",
    ),
}
#: No fault: accesses to data reach the bus eight cycles later, while the pipeline goes on.
SLOW_BUS = Patch(
    _VEXRISCV,
    "m.d.comb += [bus.valid.eq(cycle & strobe),",
    """waited = Signal(3)
    with m.If(bus.ready):
        m.d.sync += waited.eq(0)
    with m.Elif(cycle & strobe & ~waited.all() & (name == "dBus")):
        m.d.sync += waited.eq(waited + 1)
    m.d.comb += [bus.valid.eq(cycle & strobe & (waited.all() | (name != "dBus"))),""",
)
