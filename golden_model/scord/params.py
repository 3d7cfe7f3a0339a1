"""Parameters of a ScoRD instance; every width of model and hardware is derived here, once.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6-7, Table V, Section IV-C.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from racetrap.golden_model.gpu.params import (
    ENTRY_BITS,
    VALID_ROW_BITS,
    WORDS_PER_LINE,
    GpuParams,
)  # fmt: skip
from racetrap.golden_model.layout import Layout, index_bits
from racetrap.golden_model.parameters import integer

#: Cycles that a segment is in flight in addition to the latencies of its read and its write.
CHECK_CYCLES = 13
#: Bits of the lock address hash, which is also the key of the Bloom filter, and filter bins.
LOCK_HASH_BITS = 6
FILTER_BIN_BITS = 8
FILTER_BITS = 2 * FILTER_BIN_BITS
#: State bits of one lock-table entry beside its hash: scope, valid, active in the paper.
LOCK_STATE_BITS = 3


class AccessPolicy(StrEnum):
    """Policy of an SM's access buffer for accesses beyond the detector's throughput."""

    STALL = "stall"
    DROP = "drop"
    SAMPLE = "sample"


@dataclass(frozen=True)
class ScordParams(GpuParams):
    """Size of a ScoRD instance: what ``GpuParams`` has, and its own.

    A warp is named by its slot in the SM, so that one fence counter pair a warp slot is enough
    (Section IV-C counts 720 bytes for 15 x 32 of them).  ``banks`` is a multiple of
    ``words_per_cycle``; metadata entries are interleaved over the banks by their index.

    Parameters
    ----------
    granularity : int
        Bytes of a granule, the data that one metadata entry stands for: 4, 8 or 16 (Table VII).
    ratio : int
        Granules that share one entry of the software cache; 1 is no caching (Section IV-B).
    lock_table_depth : int
        Locks remembered for each warp.
    fence_id_bits, barrier_id_bits : int
        Width of the counters; they wrap.
    slot_generation_bits : int
        Width of the number that distinguishes the blocks of one slot, which each block start there
        increments; it wraps.  0: a block is taken for the one before it in its slot.
    words_per_cycle : int
        Banks that check the words of one segment in one cycle and share a metadata port of as many
        entries: 1 (each bank has a port of its own), 2, 4 or 8.
    fence_lanes : int
        Fences that every bank counts in one cycle: one of each group of SMs, whose numbers are
        equal modulo ``fence_lanes``.
    access_buffer_depth : int
        Transactions that may wait between an SM's load/store unit and its tracker; 0: no buffer.
    access_policy : AccessPolicy or str
        What happens when they are too many: ``stall`` lets the load/store unit wait, ``drop`` drops
        accesses and counts them, ``sample`` checks only some lines, always the same.
    sample_log2 : int
        Log2 of the lines of which one is sampled, with ``sample``; 0 otherwise.
    regions : int
        Monitored regions: 1 is one of a power of two bytes (``Region``), more are a table of as
        many, each of any number of lines (``racetrap.golden_model.gpu.region_table``).
    valid_segments : int
        Bits of each port's table of valid segments, which a launch clears instead of the metadata
        of so many segments (``valid_share``); 0: a launch writes all metadata.
    """

    granularity: int = integer(4, 4, 16, power_of_two=True)
    ratio: int = integer(16, 1, 64, power_of_two=True)
    lock_table_depth: int = integer(4, 1, 16)
    fence_id_bits: int = integer(6, 2, 16)
    barrier_id_bits: int = integer(8, 2, 16)
    words_per_cycle: int = integer(1, 1, 8, power_of_two=True)
    fence_lanes: int = integer(1, 1, 16, power_of_two=True)
    access_buffer_depth: int = integer(0, 0, 256)
    access_policy: AccessPolicy = AccessPolicy.STALL
    sample_log2: int = integer(0, 0, 15)
    # Every configuration of ScoRD has had it in its hash.
    local_bytes: int = integer(0, 0, 1 << 20)
    regions: int = integer(1, 1, 8)
    valid_segments: int = integer(0, 0, 1 << 28)
    slot_generation_bits: int = integer(0, 0, 8, came_later=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_access_buffer()
        self._check_valid_segments()
        self.check_entry(
            "sm_count, blocks_per_sm, warps_per_sm, ratio, fence_id_bits, barrier_id_bits or "
            "slot_generation_bits"
        )
        if self.banks % self.words_per_cycle:
            raise ValueError(
                f"Parameter banks must be a multiple of words_per_cycle {self.words_per_cycle}, "
                f"not {self.banks}"
            )
        if self.fence_lanes > self.sm_count:
            raise ValueError(
                f"Parameter fence_lanes must be at most sm_count {self.sm_count}, "
                f"not {self.fence_lanes}"
            )
        if self.fence_bundle_bits > self._bits_without_fence:
            raise ValueError(
                f"Fences of one cycle must fit in {self._bits_without_fence} bits of a packet, "
                f"not {self.fence_bundle_bits} (reduce fence_lanes, or widen pc_bits or "
                "address_bits)"
            )
        self.check_local_memory()

    def _check_valid_segments(self) -> None:
        largest = self.max_region_log2 - self.granularity_bits - self.tag_bits - self.lane_bits
        low = VALID_ROW_BITS << self.region_number_bits
        high = min(1 << max(largest - self.port_shift, 0), self.most("valid_segments"))
        bits = self.valid_segments
        if bits and not (bits.bit_count() == 1 and low <= bits <= high):
            raise ValueError(
                f"Parameter valid_segments must be 0 or a power of two from {low} to {high}, "
                f"not {bits}"
            )

    def _check_access_buffer(self) -> None:
        if self.access_policy != AccessPolicy.STALL and not self.access_buffer_depth:
            raise ValueError(
                f"Parameter access_buffer_depth must be at least 1 with access_policy "
                f"{self.access_policy}, not 0"
            )
        if (self.sample_log2 > 0) != (self.access_policy == AccessPolicy.SAMPLE):
            raise ValueError(
                "Parameter sample_log2 must be at least 1 with access_policy sample and 0 without, "
                f"not {self.sample_log2} with {self.access_policy}"
            )

    # Metadata ---------------------------------------------------------------------------

    @property
    def uninitialised_entry(self) -> int:
        """A combination of flags that no access produces."""
        # The flags' positions derive from this module.
        from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY

        return UNINITIALISED_ENTRY

    def segments_per_cycle(self, latency: int) -> float:
        """Maximum segments per cycle of a port, if each is written back.

        Parameters
        ----------
        latency : int
            Cycles from a metadata request to its answer, of reads and of writes.
        """
        return min(1.0, self.outstanding / (2 * latency + CHECK_CYCLES))

    @classmethod
    def outstanding_for(cls, latency: int) -> int:
        """Minimum ``outstanding`` for one segment per cycle, or the largest value allowed."""
        needed = 2 * latency + CHECK_CYCLES
        return min(1 << (needed - 1).bit_length(), cls.most("outstanding"))

    @property
    def looks_up_owners(self) -> bool:
        """The fence counters of an entry's owner are looked up."""
        return True

    @property
    def holds_checks(self) -> bool:
        """Segments behind one that waits for counters of its owners."""
        return self.shares_owners

    @property
    def entry_layout_bits(self) -> int:
        """Bits of an entry in use (58 in the paper)."""
        return (
            FILTER_BITS + 6 + self.barrier_id_bits + 2 * self.fence_id_bits
            + self.warp_bits + self.block_bits + self.tag_bits + self.slot_generation_bits
        )  # fmt: skip

    @cached_property
    def entry_layout(self) -> Layout:
        """Metadata entry, in the order and, for the paper's sizes, at the positions of Fig. 7."""
        return Layout({
            "filter": FILTER_BITS,
            "strong": 1,
            "scope": 1,
            "is_atom": 1,
            "dev_shared": 1,
            "blk_shared": 1,
            "modified": 1,
            "barrier_id": self.barrier_id_bits,
            "blk_fence_id": self.fence_id_bits,
            "dev_fence_id": self.fence_id_bits,
            "warp": self.warp_bits,
            "block": self.block_bits,
            "tag": self.tag_bits,
            "generation": self.slot_generation_bits,
            "unused": ENTRY_BITS - self.entry_layout_bits,
        })  # fmt: skip

    # Streams ----------------------------------------------------------------------------

    @cached_property
    def transaction_layout(self) -> Layout:
        """Transaction from an SM's coalescer to its tracker."""
        return Layout({
            "kind": 3,
            "scope": 1,
            "strong": 1,
            "op": 2,
            "slot": self.slot_bits,
            "warp": self.warp_bits,
            "pc": self.pc_bits,
            "line": self.address_bits - 7,
            "mask": WORDS_PER_LINE,
            "lock_mask": WORDS_PER_LINE,
        })  # fmt: skip

    @cached_property
    def packet_layout(self) -> Layout:
        """Packet that a detector bank checks: one access to one word, or one fence."""
        return Layout({
            "kind": 2,
            "scope": 1,
            "strong": 1,
            "block": self.block_bits,
            "warp": self.warp_bits,
            "barrier_id": self.barrier_id_bits,
            "filter": FILTER_BITS,
            "pc": self.pc_bits,
            "word": self.word_bits,
            "generation": self.slot_generation_bits,
        })  # fmt: skip

    @property
    def leaves_out(self) -> bool:
        """Whether the access buffers may skip accesses."""
        return self.access_policy != AccessPolicy.STALL

    @property
    def fence_lane_bits(self) -> int:
        """Bits of the number of a fence lane, the low ones of its SMs' numbers."""
        return self.fence_lanes.bit_length() - 1

    @property
    def fence_part_bits(self) -> int:
        """Low bits of a warp slot that number the memory of its counters among those of its lane.

        A port has as many memories as a segment has words, or one for each fence lane.
        """
        return min(max(self.lane_bits - self.fence_lane_bits, 0), self.warp_bits)

    @cached_property
    def fence_layout(self) -> Layout:
        """Fields of a fence for the detector banks."""
        return Layout({"scope": 1, "block": self.block_bits, "warp": self.warp_bits})

    @property
    def fence_bundle_bits(self) -> int:
        """Bits of a packet of fences in addition to those of a single one.

        A bit for each lane that has a fence, and the fences of all lanes but the first, which is
        the packet itself.
        """
        if self.fence_lanes == 1:
            return 0
        return self.fence_lanes + (self.fence_lanes - 1) * self.fence_layout.width

    @property
    def _bits_without_fence(self) -> int:
        """Bits of a packet that a single fence leaves 0."""
        return self.packet_layout.width - 3 - self.fence_layout.width

    @cached_property
    def segment_layout(self) -> Layout:
        """Segment from a tracker to the banks of a port: an access to words of one segment.

        A packet, with the lowest word, and a bit for each bank of the port that has its own packet;
        with one bank per port there is no such bit.
        """
        lanes = self.words_per_cycle if self.words_per_cycle > 1 else 0
        return Layout({**self.packet_layout.fields, "lanes": lanes})

    @cached_property
    def request_layout(self) -> Layout:
        """Packet from an SM unit to the slice unit of a metadata port."""
        return Layout({
            "destination": index_bits(self.metadata_ports),
            "is_mark": 1,
            "segment": self.segment_layout,
        })  # fmt: skip

    @cached_property
    def response_layout(self) -> Layout:
        """Packet from a slice unit to an SM unit."""
        return Layout({"destination": self.sm_bits, "is_mark": 1, "warp": self.warp_bits})

    @cached_property
    def step_layout(self) -> Layout:
        """One step on a bank's trace port."""
        return Layout({
            "packet": self.packet_layout,
            "row": 5,
            "preliminary": 2,
            "race": 3,
            "tag_conflict": 1,
            "read_error": 1,
            "owner_blk_fence_id": self.fence_id_bits,
            "owner_dev_fence_id": self.fence_id_bits,
            "own_blk_fence_id": self.fence_id_bits,
            "own_dev_fence_id": self.fence_id_bits,
            "before": ENTRY_BITS,
            "after": ENTRY_BITS,
        })  # fmt: skip

    @cached_property
    def report_layout(self) -> Layout:
        """One race report in the ring buffer: 32 bytes, every field on a byte boundary."""
        return Layout({
            "address": 64,
            "pc": 32,
            "sequence": 32,
            "block": 16,
            "warp": 8,
            "kind": 8,
            "owner_block": 16,
            "owner_warp": 8,
            "race": 8,
            "filter": 16,
            "owner_filter": 16,
            "scope": 1,
            "strong": 1,
            "device_race": 1,
            "reserved_flags": 5,
            "owner_strong": 1,
            "owner_scope": 1,
            "owner_is_atom": 1,
            "owner_dev_shared": 1,
            "owner_blk_shared": 1,
            "owner_modified": 1,
            "reserved_owner": 2,
            "bank": 10,
            "reserved": 6,
        })  # fmt: skip
