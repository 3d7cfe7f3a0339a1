"""Parameters of the example systems, and their addresses."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from racetrap.golden_model.noncoherent.taps.params import (
    ZICBOM,
    Attribute,
    MaintenanceWord,
    Region,
    TapParams,
)
from racetrap.golden_model.trace.noncoherent.operations import RANGE_KINDS, OperationKind
from racetrap.rtl.soc.cache import CacheParams, Maintenance

#: Memory for code, stacks and what belongs to devices; engines reach it, the cache does not.
LOCAL_BASE, LOCAL_BYTES = 0x0000_0000, 1 << 20
#: Memory behind the cache.
MEMORY_BASE, MEMORY_BYTES = 0x2000_0000, 1 << 20
ENGINE_BASE, CONTROL_BASE, MONITOR_BASE = 0x4000_0000, 0x4000_1000, 0x4000_2000
DEVICE_BYTES = 0x1000
#: Byte offset of each control register; windows follow, each with its first byte and its end.
#: The last two are read-only: bytes of a line of the cache, and whether it maintains single lines.
CONTROL = {
    "exit": 0x00, "console": 0x04, "tag": 0x08, "device_mode": 0x0C, "line_bytes": 0x10,
    "maintains_lines": 0x14,
}  # fmt: skip
WINDOWS_AT = 0x40
WINDOWS = 8
#: Instructions of the whole cache, of the space for custom ones: the kind is in bits 25 and 26.
ALL_KIND_AT = 25
_ALL_OPCODE = 0x2B
ALL_WORDS = tuple(
    MaintenanceWord(0xFFFF_FFFF, _ALL_OPCODE | kind << ALL_KIND_AT, operation)
    for kind, operation in (
        (Maintenance.INVALIDATE, OperationKind.INVALIDATE_ALL),
        (Maintenance.CLEAN, OperationKind.CLEAN_ALL),
        (Maintenance.FLUSH, OperationKind.FLUSH_ALL),
    )
)


@dataclass(frozen=True)
class SocParams:
    """Parameters of a system.

    Parameters
    ----------
    cache : CacheParams
        The cache, or what the core's own is; the monitor has its lines.
    maintenance : tuple of MaintenanceWord
        Instructions that maintain it.
    entries : int
        Entries of each set of the monitor.
    depth : int
        Places of the queue in front of it.
    """

    cache: CacheParams = field(default_factory=lambda: CacheParams(line_bytes=64))
    maintenance: tuple[MaintenanceWord, ...] = (*ZICBOM, *ALL_WORDS)
    entries: int = 8
    depth: int = 16

    @property
    def maintains_lines(self) -> bool:
        """Whether there is an instruction that maintains a line."""
        return any(word.kind in RANGE_KINDS for word in self.maintenance)

    @property
    def taps(self) -> TapParams:
        """What the taps know."""
        line = self.cache.line_bytes
        taps = TapParams(
            regions=(Region(MEMORY_BASE, MEMORY_BYTES, Attribute.CACHED),),
            windows=WINDOWS,
            maintenance=self.maintenance,
            depth=self.depth,
        )
        monitor = replace(
            taps.monitor, line_bytes=line, granule_bytes=line, entries=self.entries,
            write_through=self.cache.write_through,
        )  # fmt: skip
        return replace(taps, monitor=monitor)
