"""Parameters of a HiRace instance; every width of model and hardware is derived here, once.

Ref: HiRace (SC'24), the widths of its published artefact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from racetrap.golden_model.events import WARP_SIZE
from racetrap.golden_model.gpu.params import ENTRY_BITS, GpuParams
from racetrap.golden_model.layout import Layout
from racetrap.golden_model.parameters import integer

#: Bits of a lane's number in its warp, and of a word's state.
LANE_BITS = WARP_SIZE.bit_length() - 1
STATE_BITS = 5
#: Words that one lane may access at once: a vector of 128 bits.
MOST_WORDS = 4


@dataclass(frozen=True)
class HiraceParams(GpuParams):
    """Size of a HiRace instance: what ``GpuParams`` has, and its own.

    A thread is named by block slot, warp slot and lane.

    Parameters
    ----------
    generation_bits : int
        Width of the counter that distinguishes successive blocks in a slot.
    barrier_bits, warp_barrier_bits : int
        Width of the counts of block barriers and of warp barriers; they wrap.
    banks : int
        Detector banks, each with a metadata port of its own; words are interleaved over them.
    shared_bytes : int
        Monitored bytes of each block slot's shared memory, from the first; 0: none.
    begin_anew : bool
        Whether a word's state restarts after a race, as with a first access; otherwise it stays in
        RACE, as in the artefact, and is reported once.
    """

    generation_bits: int = integer(8, 1, 16)
    barrier_bits: int = integer(16, 2, 16)
    warp_barrier_bits: int = integer(10, 2, 16)
    banks: int = integer(1, 1, 128, power_of_two=True)
    shared_bytes: int = integer(4096, 0, 1 << 18)
    begin_anew: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_entry(
            "sm_count, blocks_per_sm, warps_per_sm, generation_bits, barrier_bits or "
            "warp_barrier_bits"
        )
        self.check_window()

    # Metadata ---------------------------------------------------------------------------

    @property
    def uninitialised_entry(self) -> int:
        """State INIT, all other fields 0."""
        return 0

    @property
    def entry_layout_bits(self) -> int:
        """Bits of an entry in use."""
        return (
            STATE_BITS + LANE_BITS + self.warp_bits + self.block_bits + self.generation_bits
            + self.barrier_bits + self.warp_barrier_bits
        )  # fmt: skip

    @cached_property
    def thread_layout(self) -> Layout:
        """Identity of a thread, the widest unit last."""
        return Layout({
            "lane": LANE_BITS,
            "warp": self.warp_bits,
            "block": self.block_bits,
            "generation": self.generation_bits,
        })  # fmt: skip

    @cached_property
    def entry_layout(self) -> Layout:
        """Word of the method: state, thread of the last access, and its counts at that time."""
        return Layout({
            "state": STATE_BITS,
            **self.thread_layout.fields,
            "barriers": self.barrier_bits,
            "warp_barriers": self.warp_barrier_bits,
            "unused": ENTRY_BITS - self.entry_layout_bits,
        })  # fmt: skip

    # Streams ----------------------------------------------------------------------------

    @cached_property
    def transaction_layout(self) -> Layout:
        """Transaction from an SM to its tracker: one lane's access, a barrier or the start of a
        block."""
        return Layout({
            "kind": 3,
            "scope": 1,
            "shared": 1,
            "slot": self.slot_bits,
            "warp": self.warp_bits,
            "lane": LANE_BITS,
            "pc": self.pc_bits,
            "word": self.word_bits,
            "more": (MOST_WORDS - 1).bit_length(),
        })  # fmt: skip

    @cached_property
    def packet_layout(self) -> Layout:
        """Packet that a detector bank checks: one access of one lane to one word."""
        return Layout({
            "kind": 2,
            "scope": 1,
            "shared": 1,
            **self.thread_layout.fields,
            "barriers": self.barrier_bits,
            "warp_barriers": self.warp_barrier_bits,
            "pc": self.pc_bits,
            "word": self.word_bits,
        })  # fmt: skip

    @cached_property
    def step_layout(self) -> Layout:
        """One step on a bank's trace port."""
        return Layout({
            "packet": self.packet_layout,
            "monitored": 1,
            "sync": 2,
            "relation": 2,
            "race": 3,
            "read_error": 1,
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
            "lane": 8,
            "kind": 8,
            "race": 8,
            "owner_block": 16,
            "owner_warp": 8,
            "owner_lane": 8,
            "state": 8,
            "scope": 1,
            "shared": 1,
            "relation": 2,
            "sync": 2,
            "reserved": 2,
            "bank": 8,
            "reserved_end": 24,
        })  # fmt: skip
