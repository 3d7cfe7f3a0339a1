"""Bugs planted in the example system."""

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
