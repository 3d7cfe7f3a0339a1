"""Parameters of a causality instance; every width of model and hardware is derived here, once.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from racetrap.golden_model.events import WARP_SIZE
from racetrap.golden_model.gpu.params import BARRIER_BITS, WORD_BYTES, GpuParams
from racetrap.golden_model.layout import Layout
from racetrap.golden_model.parameters import integer

#: Bits of a lane's number in its warp, of a word's bytes, and of a size code.
LANE_BITS = WARP_SIZE.bit_length() - 1
SIZE_BITS = 3
#: Bits of a hash of an instruction's place: those of its program counter, so many at a time.
PLACE_BITS = 4


@dataclass(frozen=True)
class CausalityParams(GpuParams):
    """Size of a causality instance: what ``GpuParams`` has, and its own.

    Parameters
    ----------
    clock_bits : int
        Width of a warp's clock.  Before one wraps, all accesses so far are taken as ordered.
    epoch_bits : int
        Width of the number that tells entries of before a wrap from those after it.
    hash_bits : int
        Bits of each table of knowledge for what its exact entries cannot hold.
    known, pending, seen : int
        Exact entries of the tables for what is ordered, for messages that no acquire has taken in,
        and for fence order.
    levels, records : int
        Nested branches of a warp, and warp barriers of some of its lanes, that are kept exactly.
    undecided : int
        Volatile accesses of a warp that may be flags; further ones count as flags.
    independent_threads : bool
        Whether only warp barriers order the lanes of a warp, as since Volta; otherwise they run in
        lockstep.
    ratio : int
        Words that share one entry.
    banks : int
        Detector banks, each with a metadata port of its own; entries are interleaved over them.
    shared_bytes : int
        Monitored bytes of each block slot's shared memory, from the first; 0: none.
    """

    clock_bits: int = integer(12, 3, 16)
    epoch_bits: int = integer(2, 1, 4)
    hash_bits: int = integer(64, 1, 1024, power_of_two=True)
    known: int = integer(2, 0, 1 << 20)
    pending: int = integer(1, 0, 1 << 20)
    seen: int = integer(1, 0, 1 << 20)
    levels: int = integer(2, 0, 32)
    records: int = integer(2, 0, 32)
    undecided: int = integer(1, 0, 32)
    independent_threads: bool = True
    ratio: int = integer(32, 1, 64, power_of_two=True)
    banks: int = integer(1, 1, 128, power_of_two=True)
    shared_bytes: int = integer(4096, 0, 1 << 18)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_entry("sm_count, blocks_per_sm, warps_per_sm, clock_bits, epoch_bits or ratio")
        self.check_window()

    def with_lanes(self, independent: bool) -> Self:
        """The same for a run whose lanes were scheduled independently, or in lockstep."""
        return replace(self, independent_threads=independent)

    # Method -----------------------------------------------------------------------------

    @property
    def last_clock(self) -> int:
        """Clock at which all is taken as ordered, before an event can make a clock wrap."""
        return (1 << self.clock_bits) - 3

    @property
    def slot_warp_bits(self) -> int:
        """Bits of a warp slot's number in the GPU: SM above, warp below."""
        return self.sm_bits + self.warp_bits

    def warp_id(self, sm: int, warp: int) -> int:
        """Number of a warp slot in the GPU."""
        return sm << self.warp_bits | warp

    def hash_of(self, block: int) -> int:
        """Bit of a block slot in a table of knowledge, as a mask."""
        slot = block & (1 << self.slot_bits) - 1
        return 1 << (7 * self.sm_of_block(block) + slot) % self.hash_bits

    # Metadata ---------------------------------------------------------------------------

    @property
    def entry_bits(self) -> int:
        """Bits of an entry: a writer and a reader need twice ScoRD's."""
        return 128

    @property
    def holds_checks(self) -> bool:
        """A packet is checked only when there is room for its notice."""
        return True

    @property
    def orders_accesses(self) -> bool:
        """A load that waits for a value must not be taken as one that has not seen it."""
        return True

    @property
    def report_ports(self) -> int:
        """The collector reports all races."""
        return 1

    @property
    def uninitialised_entry(self) -> int:
        """Neither a writer nor a reader."""
        return 0

    @property
    def entry_layout_bits(self) -> int:
        """Bits of an entry in use."""
        return Layout(self._entry_fields).width

    @cached_property
    def side_layout(self) -> Layout:
        """What an entry has of a reader."""
        return Layout({
            "warp": self.slot_warp_bits,
            "slot": self.slot_bits,
            "clock": self.clock_bits,
            "lane": LANE_BITS,
            "several": 1,
            "bytes": WORD_BYTES,
            "strong": 1,
            "named": 1,
            "atomic": 1,
            "device": 1,
            "sc": 3,
            "size": SIZE_BITS,
        })  # fmt: skip

    @cached_property
    def entry_layout(self) -> Layout:
        """Metadata entry: the last writer, the last reader since, and the word's message."""
        used = self.entry_layout_bits
        return Layout({**self._entry_fields, "unused": max(0, self.entry_bits - used)})

    @cached_property
    def writer_layout(self) -> Layout:
        """What an entry has of a writer."""
        return Layout({
            **self.side_layout.fields, "released": 1, "released_device": 1, "operation": 1,
            "handed": 1, "place": PLACE_BITS,
        })  # fmt: skip

    @property
    def _entry_fields(self) -> dict[str, int | Layout]:
        return {
            "epoch": self.epoch_bits,
            "tag": self.tag_bits,
            "lost": 1,
            "unknown": 1,
            "observed": 2,
            "message": WORD_BYTES,
            "mixed": 1,
            "writer": self.writer_layout,
            "reader": self.side_layout,
        }

    # Streams ----------------------------------------------------------------------------

    @cached_property
    def transaction_layout(self) -> Layout:
        """What an SM hands to its tracker: accesses to one word, or what orders them."""
        return Layout({
            "kind": 4,
            "slot": self.slot_bits,
            "warp": self.warp_bits,
            **self._access_fields,
            "lanes": WARP_SIZE,
            "order": 2,
            "number": BARRIER_BITS,
            "warps": 64,
        })  # fmt: skip

    @property
    def _access_fields(self) -> dict[str, int]:
        return {
            "pc": self.pc_bits,
            "shared": 1,
            "writes": 1,
            "strong": 1,
            "named": 1,
            "device": 1,
            "acquire": 1,
            "release": 1,
            "unequal": 1,
            "size": SIZE_BITS,
            "bytes": WORD_BYTES,
            "word": self.word_bits,
        }

    @cached_property
    def packet_layout(self) -> Layout:
        """What a detector bank checks: an access of some lanes of a warp to one word."""
        return Layout({
            "kind": 3,
            "block": self.block_bits,
            "warp": self.slot_warp_bits,
            **self._access_fields,
            "lanes": WARP_SIZE,
            "clock": self.clock_bits,
            "released": 1,
            "released_device": 1,
            "sc": 3,
        })  # fmt: skip

    @cached_property
    def step_layout(self) -> Layout:
        """One step on a bank's trace port."""
        return Layout({
            "packet": self.packet_layout,
            "monitored": 1,
            "against": 2,
            "undecided": 3,
            "met": 1,
            "took_on": 1,
            "unknown": 1,
            "displaced": 1,
            "read_error": 1,
            "fenced": 1,
            "before": self.entry_bits,
            "after": self.entry_bits,
        })  # fmt: skip

    @cached_property
    def collector_event_layout(self) -> Layout:
        """What the collector tells on its trace port: the bank of a notice, the SM of a marker."""
        return Layout({"kind": 2, "source": max(self.bank_index_bits, self.sm_bits, 1)})

    @cached_property
    def report_layout(self) -> Layout:
        """One race report in the ring buffer: 32 bytes, every field on a byte boundary."""
        return Layout({
            "address": 64,
            "pc": 32,
            "sequence": 32,
            "block": 16,
            "warp": 8,
            "lane": 8,
            "kind": 8,
            "race": 8,
            "owner_block": 16,
            "owner_warp": 8,
            "owner_lane": 8,
            "owner_kind": 2,
            "owner_strong": 1,
            "owner_device": 1,
            "strong": 1,
            "device": 1,
            "shared": 1,
            "late": 1,
            "against": 2,
            "reserved": 6,
            "bank": 8,
            "reserved_end": 24,
        })  # fmt: skip

    # Between trackers, banks and collector -----------------------------------------------

    @property
    def segment_layout(self) -> Layout:
        """A bank has a metadata port of its own: a segment is a packet."""
        return self.packet_layout

    @cached_property
    def known_layout(self) -> Layout:
        """An exact entry of knowledge: a warp slot, or a block slot, up to a clock.

        A warp's block is of its SM, whose number stands in ``warp`` for both: of a block the rest
        of ``warp`` is 0.
        """
        return Layout({
            "is_block": 1,
            "warp": self.slot_warp_bits,
            "slot": self.slot_bits,
            "clock": self.clock_bits,
            "direct": 1,
        })  # fmt: skip

    def table_layout(self, places: int) -> Layout:
        """A table of knowledge with so many exact entries; a place is free if its clock is 0."""
        return Layout({
            **{f"known_{place}": self.known_layout for place in range(places)},
            "bits": self.hash_bits,
            "lossy": self.clock_bits,
            "fenced": 3,
        })  # fmt: skip

    @cached_property
    def row_layout(self) -> Layout:
        """What the collector tells all banks of a warp."""
        return Layout({
            "start": self.clock_bits,
            "bar": self.clock_bits,
            "own": self.clock_bits,
            "lanes_before": self.clock_bits,
            "know": self.table_layout(self.known),
        })  # fmt: skip

    @cached_property
    def row_write_layout(self) -> Layout:
        """A warp's row on its way to all banks.

        If its block ``begins`` they forget the warp's branches and the barriers of some of its
        lanes, if all its lanes ``met`` at a barrier of the block or of some warps the latter.
        ``fenced`` says that a warp has passed a ``fence.sc`` in this launch.  With ``epoch`` it is
        of no warp: an epoch begins.
        """
        return Layout({
            "warp": self.slot_warp_bits,
            "begins": 1,
            "met": 1,
            "fenced": 1,
            "epoch": 1,
            "row": self.row_layout,
        })  # fmt: skip

    @cached_property
    def marker_layout(self) -> Layout:
        """What a tracker tells the collector, with the ``warps`` of its transaction."""
        return Layout({
            "kind": 4,
            "block": self.block_bits,
            "warp": self.slot_warp_bits,
            "order": 2,
            "device": 1,
            "clock": self.clock_bits,
            "number": BARRIER_BITS,
            "warps": self.warps_per_sm,
        })  # fmt: skip

    @cached_property
    def notice_layout(self) -> Layout:
        """What a bank tells the collector: a step that it must know of, or a marker's place."""
        return Layout({
            "packet": self.packet_layout,
            "against": 2,
            "undecided": 3,
            "met": 1,
            "took_on": 1,
            "unknown": 1,
            "before": self.entry_layout,
        })  # fmt: skip

    @cached_property
    def done_layout(self) -> Layout:
        """What a bank has done in a cycle: a ``packet`` has left it, has become a ``notice``, a
        ``row`` is in force."""
        return Layout({"packet": 1, "notice": 1, "row": 1})

    @cached_property
    def resume_layout(self) -> Layout:
        """What the collector tells a tracker of a marker that is settled, or before clocks wrap."""
        return Layout({
            "kind": 2,
            "warp": self.warp_bits,
            "clock": self.clock_bits,
            "sc": 3,
            "is_last": 1,
        })  # fmt: skip

    # Collector --------------------------------------------------------------------------

    @cached_property
    def record_layout(self) -> Layout:
        """What the collector keeps of a warp slot, but for its flags."""
        clocks = (
            "start", "bar", "own", "lanes_before", "release", "release_device", "fence",
            "fence_device", "clock", "arrived_clock",
        )  # fmt: skip
        return Layout({
            **dict.fromkeys(clocks, self.clock_bits),
            "block": self.block_bits,
            "retired": 1,
            "sc": 3,
            "ever": 3,
            "arrived": 1 << BARRIER_BITS,
            "through_blocks": self.hash_bits,
            "seen_blocks": self.hash_bits,
            **{name: self.table_layout(places) for name, places in self.tables.items()},
        })  # fmt: skip

    @property
    def tables(self) -> dict[str, int]:
        """Tables of knowledge of a warp slot, and their exact entries."""
        return {
            "know": self.known, "here": self.pending, "far": self.pending, "through": 0,
            "seen_here": self.seen, "seen": self.seen, "seen_device": self.seen,
        }  # fmt: skip

    @cached_property
    def race_layout(self) -> Layout:
        """A race before it is a report; ``warp`` and ``owner_warp`` are slots of their SM."""
        party = {"block": self.block_bits, "warp": self.warp_bits, "lane": LANE_BITS, "kind": 2}
        return Layout({
            "pc": self.pc_bits,
            "word": self.word_bits,
            "shared": 1,
            "bank": max(self.banks - 1, 1).bit_length(),
            "race": 3,
            "against": 2,
            **party,
            "strong": 1,
            "device": 1,
            **{f"owner_{name}": bits for name, bits in party.items()},
            "owner_strong": 1,
            "owner_device": 1,
        })  # fmt: skip

    @cached_property
    def flag_layout(self) -> Layout:
        """A volatile access that is a race if it is no flag's: what is undecided of a warp slot.

        The last four are of a read: its ``partner`` is the warp slot of the flag's writer.
        """
        return Layout({
            "valid": 1,
            "race": self.race_layout,
            "same_block": 1,
            "by_atomic": 1,
            "partner": self.slot_warp_bits,
            "stamp": self.clock_bits,
        })  # fmt: skip
