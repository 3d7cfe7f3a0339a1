"""Events of a GPU run: actions of warps in one global order, before any coalescing.

An event is one warp instruction with all its active lanes, a change of a warp's active lanes, a
placement or retirement, or, between kernels, a copy.  The golden models consume events, trace files
hold them, and every source of stimulus makes them.

Ref: ScoRD (ISCA'20) Sections II and IV; BARRACUDA (PLDI'17) Section 3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from racetrap.golden_model.call_stacks import Frame, check_frames
from racetrap.golden_model.checks import check_integer, check_lines, check_provenance
from racetrap.golden_model.memory_objects import MemoryObject, check_objects

#: Lanes (threads) of a warp.
WARP_SIZE = 32
#: Mask of all of them.
ALL_LANES = (1 << WARP_SIZE) - 1
#: Log2 of the most bytes of shared memory that a block can have, and blocks of a cluster at most.
SHARED_BITS, MOST_RANKS = 24, 16
#: Bytes that one lane may load or store (up to a 128-bit vector), and update atomically.
ACCESS_SIZES = (1, 2, 4, 8, 16)
ATOMIC_SIZES = (2, 4, 8)
_MOST_PC = _MOST_COLUMN = (1 << 32) - 1


@lru_cache(maxsize=4096)
def lanes_of(mask: int) -> tuple[int, ...]:
    """Numbers of the lanes in a mask, ascending."""
    return tuple(lane for lane in range(WARP_SIZE) if mask >> lane & 1)


class Scope(IntEnum):
    """Scope of an atomic or a fence, and of a race."""

    BLOCK = 0
    DEVICE = 1


class EventScope(IntEnum):
    """Scope in an event: one that detectors know, or that of a cluster of several blocks, between
    the two."""

    BLOCK = 0
    DEVICE = 1
    CLUSTER = 2


class AtomicOp(IntEnum):
    """Operation of an atomic, as far as lock inference distinguishes it."""

    CAS = 0
    EXCH = 1
    OTHER = 2


class MemoryOrder(IntEnum):
    """Ordering semantics that an instruction names.

    IMPLIED means none: a load or store is weak or, if it is strong, volatile; an atomic is relaxed;
    a fence is ``fence.sc``, as ``membar`` is.  RELAXED is for loads and stores only.
    """

    IMPLIED = 0
    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQ_REL = 4


class EventKind(IntEnum):
    """What happened; the first five codes are those of ``TransactionKind``."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    FENCE = 3
    BARRIER = 4
    BLOCK_PLACED = 5
    BLOCK_RETIRED = 6
    KERNEL_BEGIN = 7
    KERNEL_END = 8
    IF = 9
    ELSE = 10
    FI = 11
    EXIT = 12
    WARP_BARRIER = 13
    COPY_READ = 14
    COPY_WRITE = 15
    AFTER = 16
    BARRIER_ARRIVE = 17
    PARTIAL_BARRIER = 18
    CLUSTER_ARRIVE = 19
    CLUSTER_WAIT = 20


class Space(IntEnum):
    """Memory of an access; no detector here checks per-thread (local) memory."""

    GLOBAL = 0
    SHARED = 1


#: Kinds of a warp that access memory; their codes are the lowest.
ACCESS_KINDS = frozenset({EventKind.LOAD, EventKind.STORE, EventKind.ATOMIC})
#: Kinds of a copy, and all that carry lanes.
COPY_KINDS = frozenset({EventKind.COPY_READ, EventKind.COPY_WRITE})
LANE_KINDS = ACCESS_KINDS | COPY_KINDS
#: Kinds of a block: barriers that its warps have passed.
BLOCK_BARRIERS = (EventKind.BARRIER, EventKind.PARTIAL_BARRIER)


class Lane(NamedTuple):
    """Part of one active lane in an access.

    Parameters
    ----------
    lane : int
        Number of the lane in its warp.
    address : int
        First byte accessed; a multiple of the event's ``size``.
    value : int
        STORE and EXCH: the value stored (16-byte STORE: its low 8 bytes).  CAS: the value
        stored if it succeeds.  Otherwise 0.
    compare : int
        CAS: the value expected.  16-byte STORE: the high 8 bytes.  Otherwise 0.
    success : bool
        CAS: whether memory held the value expected.  Otherwise false.
    """

    lane: int
    address: int
    value: int = 0
    compare: int = 0
    success: bool = False


class Event(NamedTuple):
    """One event; a field that its kind does not use holds 0 (or no lanes).

    ========================  ==================================================
    kind                      fields used
    ========================  ==================================================
    LOAD, STORE               sm, slot, warp, strong, scope, order, space, pc, size, lanes,
                              grid_block
    ATOMIC                    the same and op (``strong`` is always true)
    FENCE                     sm, slot, warp, scope, order, pc, mask, grid_block
    BARRIER                   sm, slot, pc (once for the block, when all its warps are there)
    BLOCK_PLACED              sm, slot, warp, warp_count, grid_block, mask, size
    BLOCK_RETIRED             sm, slot
    KERNEL_BEGIN              grid_block, pc
    KERNEL_END                none
    IF, ELSE, FI, EXIT        sm, slot, warp, pc, mask, grid_block
    WARP_BARRIER              sm, slot, warp, pc, mask, grid_block
    BARRIER_ARRIVE            sm, slot, warp, pc, grid_block
    PARTIAL_BARRIER           sm, slot, pc, grid_block, mask
    CLUSTER_ARRIVE            sm, slot, warp, order, pc, mask
    CLUSTER_WAIT              sm, slot, warp, pc, mask
    COPY_READ, COPY_WRITE     grid_block, pc, lanes
    AFTER                     grid_block
    ========================  ==================================================

    When the lanes of a warp diverge at a branch, IF has the lanes that run first, ELSE those that
    run when the first have reached the reconvergence point, and FI all lanes that reconverge there;
    a uniform branch makes no event.  A side whose lanes have all exited is closed too, except at
    the end of the warp.  EXIT has the lanes that exit, WARP_BARRIER those that synchronise in
    ``bar.warp.sync``.

    A barrier at which all warps of a block wait is one BARRIER.  At any other, a warp that arrives
    without waiting (``bar.arrive``) is a BARRIER_ARRIVE; when all have arrived, PARTIAL_BARRIER has
    the warps that waited.  These are ordered after each other and after all arrivals since the
    barrier of that number was last passed.

    Blocks of a cluster are placed one right after the other, by ascending rank, and each addresses
    the shared memory of all.  CLUSTER_ARRIVE has the lanes that arrive at the barrier of their
    cluster, CLUSTER_WAIT those that have waited: it comes behind the arrivals of all threads that
    have not exited.  Lanes that have waited are ordered after those whose arrival releases.

    Kernels, and reads and writes of global memory by copies, are *operations*, numbered from 0 in
    the order of their events (KERNEL_BEGIN, COPY_READ, COPY_WRITE).  An operation is ordered after
    the one before in its stream, and after those named by the AFTER events just before it; other
    operations are concurrent.

    Parameters
    ----------
    kind : EventKind
        What happened.
    sm, slot : int
        SM, and the block's slot in it.
    warp : int
        Warp slot in the SM; for BLOCK_PLACED the first of those that the block takes.
    scope : Scope or EventScope
        Scope of an atomic, a fence, or a strong load or store (volatile: DEVICE); BLOCK (0) for a
        weak one.
    strong : bool
        Whether a load or store is strong (volatile, relaxed, acquire or release); true for
        atomics.
    op : AtomicOp
        What an atomic does.
    pc : int
        Program counter of the instruction, 32 bits; of an operation, that of the call which
        asked for it, or 0.
    size : int
        Bytes that each lane accesses: one of ``ACCESS_SIZES`` (atomics: ``ATOMIC_SIZES``).
        BLOCK_PLACED: rank of the block in its cluster, 0 of a block without one.
    lanes : tuple of Lane
        Active lanes, at least one, by ascending lane number.  Of a copy each is a range: its
        first byte, and as value the bytes.
    warp_count : int
        Consecutive warp slots that a placed block takes.
    grid_block : int
        Index of a placed block in its grid; KERNEL_BEGIN, COPY_READ, COPY_WRITE: the stream;
        AFTER: an operation before; BARRIER_ARRIVE, PARTIAL_BARRIER: number of the barrier.
    space : Space
        Memory accessed; an address in shared memory counts from the block's first byte, and in a
        cluster from that of the block of rank 0: each rank adds ``1 << SHARED_BITS``.
    mask : int
        Lanes concerned, one bit each; BLOCK_PLACED: lanes of the block's last warp.  0 means all
        lanes of the warp, but in FI none; IF and ELSE always list theirs. PARTIAL_BARRIER: warps of
        the block, one bit each, or none.
    order : MemoryOrder
        Ordering semantics that an access or a fence names, or an arrival at the barrier of a
        cluster: RELEASE or RELAXED.
    """

    kind: EventKind
    sm: int = 0
    slot: int = 0
    warp: int = 0
    scope: Scope | EventScope = Scope.BLOCK
    strong: bool = False
    op: AtomicOp = AtomicOp.CAS
    pc: int = 0
    size: int = 0
    lanes: tuple[Lane, ...] = ()
    warp_count: int = 0
    grid_block: int = 0
    space: Space = Space.GLOBAL
    mask: int = 0
    order: MemoryOrder = MemoryOrder.IMPLIED


@dataclass(frozen=True)
class Geometry:
    """Size of the GPU on which a trace was taken.

    Parameters
    ----------
    sm_count : int
        SMs, 1 to 1024.
    blocks_per_sm, warps_per_sm : int
        Block slots and warp slots of each SM, 1 to 64.

    Raises
    ------
    TypeError, ValueError
        If a size is not an integer or out of range.
    """

    sm_count: int = field(metadata={"range": (1, 1024)})
    blocks_per_sm: int = field(metadata={"range": (1, 64)})
    warps_per_sm: int = field(metadata={"range": (1, 64)})

    def __post_init__(self) -> None:
        for size in fields(self):
            check_integer(
                f"Geometry {size.name}", getattr(self, size.name), *size.metadata["range"]
            )


#: Default GPU for kernels and programs: that of the ScoRD paper.
#: Ref: ScoRD (ISCA'20) Table V.
USUAL_GEOMETRY = Geometry(sm_count=15, blocks_per_sm=8, warps_per_sm=32)


@dataclass(frozen=True)
class DataRegion:
    """Data to be monitored in a trace; accesses outside it are legal.

    Parameters
    ----------
    data_base : int
        First byte address; a multiple of the region's size.
    size_log2 : int
        Log2 of the region's size in bytes.

    Raises
    ------
    TypeError, ValueError
        If a value is not an integer, out of range or misaligned.
    """

    data_base: int
    size_log2: int

    def __post_init__(self) -> None:
        check_integer("Region size_log2", self.size_log2, 0, 63)
        check_integer("Region data_base", self.data_base, 0, (1 << 64) - 1)
        if self.data_base % (1 << self.size_log2):
            raise ValueError(
                f"Region data_base must be a multiple of its size 2**{self.size_log2}, "
                f"not {self.data_base:#x}"
            )


@dataclass(frozen=True, kw_only=True)
class TraceHeader:
    """Header of a trace.

    Parameters
    ----------
    system : str
        Detector for which the events are meant.
    geometry : Geometry
        Size of the GPU.
    region : DataRegion
        Data to be monitored.
    source : str
        Where the trace comes from, for people: one line of printable characters.
    seed : int, optional
        Seed of a random trace, up to 64 bits.
    locations : mapping of int to str
        Place in the source (``"file.cu:12"``) of a PC, for people; PCs may be missing.
    columns : mapping of int to int
        Column in that line, from 1, of PCs that have one.
    frames : mapping of int to Frame
        Functions on the stacks of PCs, by number from 1.
    stacks : mapping of int to int
        Innermost frame of a PC: the function inlined there, or else its own.
    independent_threads : int
        1 if the lanes of a warp were scheduled independently, 0 if they were in lockstep.
    faults : mapping of int to str
        Faults that ended kernels, by number of the operation.
    outside : mapping of int to str
        Loads from outside all buffers, which returned 0, by program counter: the first of each.
    results : mapping of int to str
        Differences between final memory and the expected results, by number from 0.
    objects : mapping of int to MemoryObject
        Variables and allocations, by number from 0.

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is out of range.
    """

    system: str = "scord"
    geometry: Geometry
    region: DataRegion
    source: str = ""
    seed: int | None = None
    # Left out of the hash, which a mapping does not have.
    locations: Mapping[int, str] = field(default_factory=dict, hash=False)
    columns: Mapping[int, int] = field(default_factory=dict, hash=False)
    frames: Mapping[int, Frame] = field(default_factory=dict, hash=False)
    stacks: Mapping[int, int] = field(default_factory=dict, hash=False)
    independent_threads: int = 0
    faults: Mapping[int, str] = field(default_factory=dict, hash=False)
    outside: Mapping[int, str] = field(default_factory=dict, hash=False)
    results: Mapping[int, str] = field(default_factory=dict, hash=False)
    objects: Mapping[int, MemoryObject] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.system != "scord":
            raise ValueError(f"Trace system must be 'scord', not {self.system!r}")
        check_provenance(self.source, self.seed, self.locations)
        for pc, column in self.columns.items():
            check_integer("PC of a column", pc, 0, _MOST_PC)
            check_integer(f"Column of pc {pc:#x}", column, 1, _MOST_COLUMN)
        check_frames(self.frames)
        check_objects(self.objects)
        for pc, number in self.stacks.items():
            check_integer("PC of a stack", pc, 0, _MOST_PC)
            if number not in self.frames:
                raise ValueError(f"Stack of pc {pc:#x} must be a frame, not {number!r}")
        check_integer("Independent threads", self.independent_threads, 0, 1)
        for name in ("faults", "outside", "results"):
            for number, sentence in getattr(self, name).items():
                check_integer(f"Number in {name}", number, 0, (1 << 32) - 1)
                check_lines(f"Sentence {number} of {name}", sentence)
