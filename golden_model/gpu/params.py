"""Parameters that GPU detectors share: sizes of an instance, and derived values.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Table V.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from racetrap.golden_model.events import WARP_SIZE, Event
from racetrap.golden_model.layout import Layout, index_bits
from racetrap.golden_model.parameters import Parameters, integer, later_switch

#: Bytes of a word: the unit in which locks are named and lines are masked.
WORD_BYTES = 4
#: Bytes of the line that the SM's coalescer works on (Table V: 128-byte blocks).
LINE_BYTES = 128
#: Words of a line, and so the width of a transaction's masks.
WORDS_PER_LINE = LINE_BYTES // WORD_BYTES
#: Bits of the number of a barrier in its block.
BARRIER_BITS = 4
#: Bits of one metadata entry and bytes it takes in memory (Fig. 7).
ENTRY_BITS = 64
ENTRY_BYTES = ENTRY_BITS // 8
#: Bits of a row of a port's table of valid segments: a launch clears one in a cycle.
VALID_ROW_BITS = 64


@dataclass(frozen=True)
class GpuParams(Parameters, ABC):
    """Parameters of a detector that keeps an entry of metadata for each piece of global memory.

    What every such detector has is a field here; those of a detector inherit it, and may give it
    another default or range.  A property with a value is an option that a detector may have as a
    field.

    Parameters
    ----------
    sm_count, blocks_per_sm, warps_per_sm : int
        SMs of the GPU, block slots and warp slots of each.
    address_bits, pc_bits : int
        Width of byte addresses (data and metadata) and of program counters.
    banks : int
        Detector banks.
    outstanding : int
        Segments a port may have in flight between its metadata read and its write's response.
    merge_in_flight : bool
        Whether a packet takes its entries from a segment in flight; otherwise it waits until that
        is in memory again, and reads it there.
    packet_fifo_depth, report_fifo_depth : int
        Depth of the FIFO before each port (segments) and after each bank (race reports).
    report_filter_entries : int
        Entries of the optional filter that passes only new (PC, kind) pairs.
    trace_port : bool
        Whether the banks have the retire-style trace port.
    local_bytes : int
        Bytes of on-chip metadata memory for the whole instance; 0 keeps metadata behind AXI4.
    lanes : int
        Lanes of a warp, for the front end.
    outstanding_cas : int
        CAS instructions of an SM whose outcome its front end may wait for.
    macro_words : int
        Words from which an array on the chip is an SRAM macro, with all others in flip-flops; 0:
        tools choose.
    protection : bool
        Whether registers say who may access the registers, with which attributes the detector
        accesses memory, and within which bounds metadata and ring must lie.
    """

    sm_count: int = integer(15, 1, 255)
    blocks_per_sm: int = integer(8, 1, 32)
    warps_per_sm: int = integer(32, 1, 2 * WORDS_PER_LINE)
    address_bits: int = integer(40, 16, 64)
    pc_bits: int = integer(32, 8, 32)
    banks: int = integer(1, 1, 1024)
    outstanding: int = integer(32, 4, 1024, power_of_two=True)
    merge_in_flight: bool = True
    packet_fifo_depth: int = integer(8, 2, 64)
    report_fifo_depth: int = integer(16, 2, 1024)
    report_filter_entries: int = integer(64, 2, 1024, power_of_two=True)
    trace_port: bool = True
    local_bytes: int = integer(0, 0, 1 << 20, came_later=True)
    lanes: int = integer(WARP_SIZE, 1, WARP_SIZE, came_later=True)
    outstanding_cas: int = integer(4, 1, 64, came_later=True)
    macro_words: int = integer(0, 0, 1 << 16, came_later=True)
    protection: bool = later_switch()

    def with_lanes(self, independent: bool) -> Self:
        """The same for a run whose lanes were scheduled independently, or in lockstep."""
        return self

    # Layouts ----------------------------------------------------------------------------

    @property
    @abstractmethod
    def transaction_layout(self) -> Layout:
        """Transaction from an SM to its tracker."""

    @property
    @abstractmethod
    def packet_layout(self) -> Layout:
        """Packet that a detector bank checks."""

    @property
    @abstractmethod
    def entry_layout(self) -> Layout:
        """Metadata entry."""

    @property
    @abstractmethod
    def step_layout(self) -> Layout:
        """One step on a bank's trace port."""

    @property
    @abstractmethod
    def report_layout(self) -> Layout:
        """One race report in the ring buffer."""

    @property
    @abstractmethod
    def uninitialised_entry(self) -> int:
        """Entry of a location without an access."""

    @property
    @abstractmethod
    def entry_layout_bits(self) -> int:
        """Bits of an entry in use."""

    @property
    def entry_bits(self) -> int:
        """Bits of a metadata entry in memory."""
        return ENTRY_BITS

    @property
    def entry_bytes(self) -> int:
        """Bytes of a metadata entry in memory."""
        return self.entry_bits // 8

    def check_entry(self, parts: str) -> None:
        """Raise ``ValueError`` unless all fits in an entry; ``parts`` can be reduced."""
        if self.entry_layout_bits > self.entry_bits:
            raise ValueError(
                f"Metadata entry must fit in {self.entry_bits} bits, not {self.entry_layout_bits} "
                f"(reduce {parts})"
            )

    @property
    def segment_layout(self) -> Layout:
        """Segment from a tracker to the banks of a port."""
        return Layout({**self.packet_layout.fields, "lanes": 0})

    @cached_property
    def instruction_layout(self) -> Layout:
        """What a load/store unit issues to the front end, without the outcome of a CAS."""
        return Layout({
            "kind": 4,
            "slot": self.slot_bits,
            "warp": self.warp_bits,
            "pc": self.pc_bits,
            "scope": 1,
            "strong": 1,
            "op": 2,
            "order": 3,
            "shared": 1,
            "size": 3,
            "number": BARRIER_BITS,
            "warps": self.warps_per_sm,
            "lanes": self.lanes,
            "marks": self.lanes,
            "addresses": self.lanes * self.address_bits,
        })  # fmt: skip

    @cached_property
    def outcome_layout(self) -> Layout:
        """Outcome of a warp's CAS: the lanes that found the value expected."""
        return Layout({"warp": self.warp_bits, "success": self.lanes})

    # Options ----------------------------------------------------------------------------

    @property
    def independent_threads(self) -> bool:
        """Whether the lanes of a warp are scheduled independently; otherwise in lockstep."""
        return False

    @property
    def granularity(self) -> int:
        """Bytes of a granule, the data that one metadata entry stands for."""
        return WORD_BYTES

    @property
    def ratio(self) -> int:
        """Granules that share one entry."""
        return 1

    @property
    def words_per_cycle(self) -> int:
        """Banks that share a metadata port."""
        return 1

    @property
    def regions(self) -> int:
        """Monitored regions: one of a power of two bytes, or a table of several."""
        return 1

    @property
    def valid_segments(self) -> int:
        """Bits of each port's table of valid segments; 0: there is none."""
        return 0

    @property
    def holds_checks(self) -> bool:
        """Whether a bank may hold back packets that have their entries."""
        return False

    @property
    def orders_accesses(self) -> bool:
        """Whether memory must perform strong accesses of a word in the order in which their
        transactions were accepted."""
        return False

    @property
    def looks_up_owners(self) -> bool:
        """Whether the check looks up state of the warp that an entry names."""
        return False

    @property
    def shares_owners(self) -> bool:
        """Whether the banks of a port look it up in one place, for which a segment may wait."""
        return self.looks_up_owners and self.words_per_cycle > 1

    @property
    def shared_bytes(self) -> int:
        """Monitored bytes of each block slot's shared memory, from the first; 0: none.

        Their entries are a window after those of the region, of as many entries.
        """
        return 0

    def check_local_memory(self) -> None:
        """Raise ``ValueError`` unless on-chip metadata memory can be shared out over the ports."""
        if self.local_bytes and self.odd_ports > 1:
            raise ValueError(
                f"Parameter banks must be a power of two with local_bytes, not {self.banks}"
            )
        if self.local_bytes and self.regions > 1:
            raise ValueError(f"Parameter regions must be 1 with local_bytes, not {self.regions}")
        self.check_bytes("local_bytes", self.entry_bytes * self.banks)

    def check_window(self) -> None:
        """Raise ``ValueError`` unless the window for shared memory fits."""
        self.check_bytes("shared_bytes", WORD_BYTES * self.banks * self.ratio)
        self.check_local_memory()
        if self.min_region_log2 > self.max_region_log2:
            room = f"{self.address_bits} address bits"
            if self.local_bytes:
                room += f" and {self.local_bytes} bytes of local memory"
            raise ValueError(
                f"Parameter shared_bytes must leave room for the window in {room}, "
                f"not {self.shared_bytes}"
            )

    # Geometry ---------------------------------------------------------------------------

    @cached_property
    def sm_bits(self) -> int:
        """Bits of an SM's number."""
        return index_bits(self.sm_count)

    @cached_property
    def slot_bits(self) -> int:
        """Bits of a block's slot in its SM."""
        return index_bits(self.blocks_per_sm)

    @cached_property
    def block_bits(self) -> int:
        """Bits of a BlockID: SM number above, slot below."""
        return self.sm_bits + self.slot_bits

    @cached_property
    def warp_bits(self) -> int:
        """Bits of a warp's slot in its SM."""
        return index_bits(self.warps_per_sm)

    def block_id(self, sm: int, slot: int) -> int:
        """BlockID of slot ``slot`` of SM ``sm``."""
        return sm << self.slot_bits | slot

    def sm_of_block(self, block: int) -> int:
        """SM that holds BlockID ``block``."""
        return block >> self.slot_bits

    # Metadata ---------------------------------------------------------------------------

    @cached_property
    def granularity_bits(self) -> int:
        """Log2 of the bytes of a granule."""
        return index_bits(self.granularity)

    @cached_property
    def tag_bits(self) -> int:
        """Bits that distinguish the granules that share an entry."""
        return self.ratio.bit_length() - 1

    @cached_property
    def entry_share_log2(self) -> int:
        """Log2 of the monitored bytes for which a region has an entry, the window's included."""
        return self.granularity_bits + self.tag_bits - (self.shared_bytes > 0)

    @property
    def shared_words_log2(self) -> int:
        """Log2 of the monitored words of a block slot's shared memory."""
        return max(self.shared_bytes // WORD_BYTES, 1).bit_length() - 1

    @property
    def metadata_overhead(self) -> float:
        """Bytes of metadata for each byte of monitored data."""
        return self.entry_bytes / (1 << self.entry_share_log2)

    @property
    def lane_bits(self) -> int:
        """Bits of a bank's number among those of its port, the low ones of its number."""
        return self.words_per_cycle.bit_length() - 1

    @property
    def metadata_ports(self) -> int:
        """Metadata ports, each of ``words_per_cycle`` banks."""
        return self.banks // self.words_per_cycle

    @property
    def report_ports(self) -> int:
        """Streams of race reports: one of the banks of each metadata port."""
        return self.metadata_ports

    @cached_property
    def port_bits(self) -> int:
        """Low bits of a segment's index that give the low bits of its port's number."""
        return (self.metadata_ports & -self.metadata_ports).bit_length() - 1

    @cached_property
    def odd_ports(self) -> int:
        """Odd factor of the number of ports: the rest of a port's number is a residue by it."""
        return self.metadata_ports >> self.port_bits

    @property
    def residue_bits(self) -> int:
        """Bits of a segment's index, above ``port_bits``, whose residue is the rest of its port's.

        Enough that no port has over three percent more segments than another.
        """
        return 0 if self.odd_ports == 1 else self.odd_ports.bit_length() + 5

    @property
    def port_shift(self) -> int:
        """Low bits of a segment's index that its port's table of valid segments omits.

        A port's segments differ in the bits above: their residues by the odd number of ports are
        equal, so they are at least that far apart.
        """
        return self.metadata_ports.bit_length() - 1

    @property
    def region_number_bits(self) -> int:
        """Bits of a region's number."""
        return (self.regions - 1).bit_length()

    @property
    def valid_share(self) -> int:
        """Bits of each port's table of valid segments for one region."""
        return self.valid_segments >> self.region_number_bits

    @property
    def segment_bytes(self) -> int:
        """Bytes of the metadata that a port reads and writes as one."""
        return self.entry_bytes * self.words_per_cycle

    @property
    def word_bits(self) -> int:
        """Bits of a word address."""
        return self.address_bits - 2

    @property
    def bank_index_bits(self) -> int:
        """Low bits of an entry's index, and of a granule's number, that select its bank."""
        return self.residue_bits + self.port_bits + self.lane_bits

    @property
    def min_region_log2(self) -> int:
        """Smallest monitored region (log2 bytes): an entry for each bank, and at least one line.

        It also covers the bits of an index that select the port, and has as many words as the
        window for shared memory.
        """
        least = max(7, self.granularity_bits + self.tag_bits + self.bank_index_bits)
        window = self.shared_words_log2 + self.block_bits + WORD_BYTES.bit_length() - 1
        return max(least, window) if self.shared_bytes else least

    @property
    def max_region_log2(self) -> int:
        """Largest monitored region (log2 bytes): the address space, or what local memory holds."""
        if not self.local_bytes:
            return self.address_bits - 1
        entries = self.local_bytes // self.entry_bytes
        return min(self.address_bits, self.entry_share_log2 + entries.bit_length() - 1)


def check_place(event: Event, params: GpuParams) -> None:
    """Raise ``ValueError`` if an event is out of range: it would silently alias another."""
    warps = event.warp + max(event.warp_count, 1)
    for what, value, count in (
        ("SM", event.sm, params.sm_count),
        ("Block slot", event.slot, params.blocks_per_sm),
        ("Warp slot", warps - 1, params.warps_per_sm),
    ):
        if not 0 <= value < count:
            raise ValueError(f"{what} must be from 0 to {count - 1}, not {value}")
    if event.pc >> params.pc_bits:
        raise ValueError(f"PC must fit in {params.pc_bits} bits, not {event.pc:#x}")
