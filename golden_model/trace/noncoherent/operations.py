"""Operations of one CPU with a cache and of accelerators that bypass it, in program order.

Ref: Young, "Dynamic Race Detection for Non-Coherent Accelerators" (UBC 2020), Table 3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from racetrap.golden_model.checks import check_integer, check_provenance, unknown_name

MAX_ENGINES = 64
MAX_LINE_BYTES = 4096
#: Memory layout of the addresses in a trace: that of the recording machine, that of the target, or
#: the target's for some objects only.
LAYOUTS = ("host", "mixed", "target")


class OperationKind(IntEnum):
    """Kind of operation of the CPU, or of an accelerator on its command.

    =============================  =========================================================
    kind                           fields used besides ``kind`` and ``pc``
    =============================  =========================================================
    CACHED_READ, CACHED_WRITE      range
    UNCACHED_READ, UNCACHED_WRITE  range
    DMA_READ, DMA_WRITE            range, engine: the accelerator reads or writes main memory
    SYNC                           engine: the CPU waits until its DMA has completed
    SYNC_ALL                       none: the CPU waits for all engines
    CACHE_FLUSH                    range: its lines are written back and invalidated
    CACHE_CLEAN                    range: its lines are written back and stay
    CACHE_INVALIDATE               range: its lines are dropped, dirty or not
    FLUSH_ALL, CLEAN_ALL,          none: the same for the whole cache
    INVALIDATE_ALL
    =============================  =========================================================
    """

    CACHED_READ = 0
    CACHED_WRITE = 1
    UNCACHED_READ = 2
    UNCACHED_WRITE = 3
    DMA_READ = 4
    DMA_WRITE = 5
    SYNC = 6
    SYNC_ALL = 7
    CACHE_FLUSH = 8
    CACHE_CLEAN = 9
    CACHE_INVALIDATE = 10
    FLUSH_ALL = 11
    CLEAN_ALL = 12
    INVALIDATE_ALL = 13


#: Accesses of an accelerator.
DMA_KINDS = frozenset({OperationKind.DMA_READ, OperationKind.DMA_WRITE})
#: Maintenance of cached lines.
MAINTENANCE = frozenset(kind for kind in OperationKind if kind >= OperationKind.CACHE_FLUSH)
#: Waits for an accelerator, or for all.
SYNCS = frozenset({OperationKind.SYNC, OperationKind.SYNC_ALL})
#: Kinds that name an engine.
ENGINE_KINDS = DMA_KINDS | {OperationKind.SYNC}
#: Kinds that have a range of bytes.
RANGE_KINDS = frozenset(OperationKind) - SYNCS - {
    OperationKind.FLUSH_ALL, OperationKind.CLEAN_ALL, OperationKind.INVALIDATE_ALL,
}  # fmt: skip


class Operation(NamedTuple):
    """One operation; fields that its kind does not use are 0.

    Parameters
    ----------
    kind : int
        ``OperationKind``.
    address : int
        First byte of the range.
    size : int
        Bytes of a row, at least 1.
    rows : int
        Rows of the range, at least 2; 0 if it is one row.
    stride : int
        Bytes from the start of a row to that of the next, at least ``size``; 0 if it is one
        row.
    engine : int
        Number of the accelerator's engine.
    pc : int
        Program counter, 32 bits; 0 if unknown.
    """

    kind: int
    address: int = 0
    size: int = 0
    rows: int = 0
    stride: int = 0
    engine: int = 0
    pc: int = 0

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """First and last byte of each row, ascending; adjoining rows are one."""
        if self.stride == self.size or not self.rows:
            return [(self.address, self.address + self.size * (self.rows or 1) - 1)]
        starts = range(self.address, self.address + self.rows * self.stride, self.stride)
        return [(start, start + self.size - 1) for start in starts]


@dataclass(frozen=True, kw_only=True)
class MemorySystem:
    """Properties of the hardware that decide whether a program has races.

    Parameters
    ----------
    line_bytes : int
        Bytes of a cache line, filled and flushed as a whole: a power of two.
    granule_bytes : int
        Bytes that are written back together: a power of two, at most a line.
    engines : int
        Engines that access memory by DMA; each keeps the order in which its DMA was issued.
    prefetch : bool
        Whether the cache may fill any line at any time.
    uncached_snoops_cache : bool
        Whether uncached reads take dirty bytes from the cache, and uncached writes update it.
    write_through : bool
        Whether cached writes go to memory at once, byte by byte: no line is ever dirty, and
        ``granule_bytes`` has no effect.

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is out of range.
    """

    line_bytes: int = 32
    granule_bytes: int = 32
    engines: int = 1
    prefetch: bool = False
    uncached_snoops_cache: bool = False
    write_through: bool = False

    def __post_init__(self) -> None:
        for what, value, most in (
            ("Cache line", self.line_bytes, MAX_LINE_BYTES),
            ("Write-back granule", self.granule_bytes, self.line_bytes),
        ):
            check_integer(what, value, 1, most)
            if value & (value - 1):
                raise ValueError(f"{what} must be a power of two, not {value}")
        check_integer("Engines", self.engines, 1, MAX_ENGINES)
        for name in ("prefetch", "uncached_snoops_cache", "write_through"):
            flag = getattr(self, name)
            if flag not in (0, 1):
                raise ValueError(f"Memory's {name} must be 0 or 1, not {flag!r}")
            object.__setattr__(self, name, bool(flag))

    @property
    def write_unit(self) -> int:
        """Bytes that reach memory together after a cached write: a granule, or one byte."""
        return 1 if self.write_through else self.granule_bytes


@dataclass(frozen=True, kw_only=True)
class NoncoherentTraceHeader:
    """Header of a trace of a CPU and its accelerators.

    Parameters
    ----------
    system : str
        Detector that the operations are meant for: always ``"noncoherent"``.
    memory : MemorySystem
        The hardware.
    layout : str
        Memory layout of the addresses: one of ``LAYOUTS``.
    source : str
        Where the trace comes from, for people: one line of printable characters.
    seed : int or None
        Seed of a random trace, up to 64 bits.
    locations : mapping of int to str
        Place in the source (``"file.c:12"``) of a PC; PCs may be missing.

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is out of range.
    """

    system: str = "noncoherent"
    memory: MemorySystem = field(default_factory=MemorySystem)
    layout: str = "target"
    source: str = ""
    seed: int | None = None
    locations: Mapping[int, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.system != "noncoherent":
            raise ValueError(f"Trace system must be 'noncoherent', not {self.system!r}")
        if self.layout not in LAYOUTS:
            raise ValueError(unknown_name("layout", self.layout, LAYOUTS))
        check_provenance(self.source, self.seed, self.locations)
