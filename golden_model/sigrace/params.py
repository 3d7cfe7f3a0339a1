"""Parameters of a SigRace instance; every width of model and hardware is derived here, once.

Ref: SigRace (ISCA'09) Section 4.1, Fig. 5-6, Tables 4-6, Section 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from racetrap.golden_model.h3 import h3_rows
from racetrap.golden_model.layout import Layout, index_bits
from racetrap.golden_model.parameters import Parameters, integer, later_switch
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2

#: Bits of an address that go into a signature.
ADDRESS_BITS = 32
#: Bits of a flit of a Summary message.
FLIT_BITS = 32
#: Bits of the instruction count of one core event.
INSTRUCTION_BITS = 12
#: Most bytes of one access of a core event.
MAX_ACCESS_BYTES = 16
#: Bits of a word with which software loads a Conflict Signature.
WORD_BITS = 32


class Form(StrEnum):
    """Form of the sets in a core and its Summary messages; the RDM always holds signatures.

    SETS: the address portions before hashing (smaller messages).  HASHED: the signatures.
    """

    SETS = "sets"
    HASHED = "hashed"


class SubFilter(NamedTuple):
    """One of the parallel filters of a signature.

    Parameters
    ----------
    is_lsb : bool
        Whether it hashes the LSB portion of the address, not the USB portion.
    offset, bits : int
        Position of its first bit in the signature, and its size.
    rows : tuple of int or None
        H3 matrix from the portion to the bit's number; None: one bit for each granule of the
        portion (one-hot), that is bit number = portion divided by the granule's size.
    """

    is_lsb: bool
    offset: int
    bits: int
    rows: tuple[int, ...] | None


#: Largest LSB portion that is sent as a bitmap.
MAX_BITMAP_LSB_BITS = 12
#: Bits of the LSB portion of the paper's address partitions B1 to B3 (Table 5).
PARTITIONS = {1: 8, 2: 10, 3: 16}
#: Number of filters and bits of each of the paper's signature organisations S1 to S6 (Table 6).
ORGANISATIONS = {1: (16, 256), 2: (16, 128), 3: (16, 64), 4: (8, 512), 5: (8, 256), 6: (8, 128)}


@dataclass(frozen=True)
class SigraceParams(Parameters):
    """Size of a SigRace instance.

    Parameters
    ----------
    cores, contexts : int
        Cores, and hardware contexts of each; every context has its own core unit (Section 4.3.3).
    threads : int
        Range of SigRaceID: counters of a timestamp, and BlockHistoryQueues (Section 4.3.2).
    lsb_bits : int
        Bits of the address's lower portion: 8, 10, 16 for B1, B2, B3 (Table 5).
    filters, filter_bits : int
        Bloom filters of a signature, half of them for each portion, and bits of each (Table 6).
    one_hot_lsb : bool
        Keep the LSB portion as one bit for each granule instead of its filters: exact there.
    form : Form or str
        What the cores collect and send.
    usb_limit : int
        Different USB values that a read or write set of a block holds (form ``sets`` only).
    block_instructions : int
        Committed instructions after which a block ends.
    history_depth : int
        Entries of each BlockHistoryQueue.
    timestamp_bits : int
        Bits of one counter of a timestamp; it saturates.
    sequence_bits : int
        Bits of the sequence number of Summary messages; it wraps.
    log_depth : int
        Conflicts that the RDM's log holds.
    log_blocks : int
        Further messages of the conflicting thread after which a rollback is requested.
    trap_depth : int
        Trap records that a core unit holds.
    link_depth : int
        Flits that the RDM holds of each core's link.
    pc_bits : int
        Bits of a program counter.
    trace_port : bool
        Whether core units and RDM have the retire-style trace ports.
    macro_words : int
        Words from which an array on the chip is an SRAM macro, with all others in flip-flops; 0:
        tools choose.
    protection : bool
        Whether a register says who may access the registers.
    scanners : int
        BlockHistoryQueues that the RDM searches at once, each in a memory with those of every
        ``scanners``-th thread.
    decompressors : int
        Messages that the RDM decompresses at once, each from every ``decompressors``-th core.

    Raises
    ------
    TypeError, ValueError
        If a parameter has the wrong type, is out of range or conflicts with another.
    """

    cores: int = integer(8, 1, 64)
    contexts: int = integer(1, 1, 8)
    threads: int = integer(8, 1, 128)
    lsb_bits: int = integer(10, 4, 24)
    filters: int = integer(16, 2, 32)
    filter_bits: int = integer(128, 16, 1024, power_of_two=True)
    one_hot_lsb: bool = False
    form: Form = Form.SETS
    usb_limit: int = integer(24, 1, 63)
    block_instructions: int = integer(2000, 1, 1 << 20)
    history_depth: int = integer(16, 1, 256)
    timestamp_bits: int = integer(20, 2, 32)
    sequence_bits: int = integer(8, 2, 8)
    log_depth: int = integer(8, 1, 64)
    log_blocks: int = integer(8, 1, 255)
    trap_depth: int = integer(8, 1, 64)
    link_depth: int = integer(32, 2, 1024)
    pc_bits: int = integer(32, 8, 32)
    trace_port: bool = True
    macro_words: int = integer(0, 0, 1 << 16, came_later=True)
    protection: bool = later_switch()
    scanners: int = integer(1, 1, 16, came_later=True)
    decompressors: int = integer(1, 1, 8, came_later=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.filters % 2:
            raise ValueError(f"Parameter filters must be even, not {self.filters}")
        for name, limit in (("scanners", "threads"), ("decompressors", "cores")):
            value, most = getattr(self, name), getattr(self, limit)
            if value > most:
                raise ValueError(f"Parameter {name} must be at most {limit} = {most}, not {value}")
        if self.lsb_bits > MAX_BITMAP_LSB_BITS and (self.form is Form.SETS or self.one_hot_lsb):
            raise ValueError(
                f"Parameter lsb_bits must be at most {MAX_BITMAP_LSB_BITS} with "
                f"form sets or one_hot_lsb, not {self.lsb_bits}: lower it, or set "
                "form=hashed"
            )

    # Signatures -------------------------------------------------------------------------

    @property
    def usb_bits(self) -> int:
        """Bits of the address's upper portion."""
        return ADDRESS_BITS - self.lsb_bits

    @property
    def lsb_values(self) -> int:
        """Different LSB portions: their two lowest bits are always 0."""
        return 1 << (self.lsb_bits - GRANULE_LOG2)

    @cached_property
    def sub_filters(self) -> tuple[SubFilter, ...]:
        """Filters of a signature, LSB filters first, by ascending offset."""
        half = self.filters // 2
        shapes: list[tuple[bool, int, tuple[int, ...] | None]] = []
        if self.one_hot_lsb:
            shapes.append((True, self.lsb_values, None))
        portions = [(True, self.lsb_bits), (False, self.usb_bits)]
        index_bits = self.filter_bits.bit_length() - 1
        for is_lsb, bits in portions[self.one_hot_lsb :]:
            for number in range(half):
                name = f"{'lsb' if is_lsb else 'usb'} {number}"
                shapes.append((is_lsb, self.filter_bits, _rows(is_lsb, bits, index_bits, name)))
        filters, offset = [], 0
        for is_lsb, size, rows in shapes:
            filters.append(SubFilter(is_lsb, offset, size, rows))
            offset += size
        return tuple(filters)

    @property
    def signature_bits(self) -> int:
        """Bits of a signature: k x n."""
        last = self.sub_filters[-1]
        return last.offset + last.bits

    @property
    def signature_words(self) -> int:
        """32-bit words with which software loads a Conflict Signature."""
        return -(-self.signature_bits // WORD_BITS)

    # Names ------------------------------------------------------------------------------

    @property
    def thread_bits(self) -> int:
        """Bits of a SigRaceID."""
        return index_bits(self.threads)

    @property
    def timestamp_width(self) -> int:
        """Bits of a whole timestamp; counter 0 lies lowest."""
        return self.threads * self.timestamp_bits

    @property
    def max_counter(self) -> int:
        """Value at which a timestamp counter saturates."""
        return (1 << self.timestamp_bits) - 1

    def check_epochs(self, last: int) -> None:
        """Raise ``ValueError`` if a counter cannot distinguish the epochs up to number ``last``."""
        # A saturated counter no longer determines the order.
        needed = (last + 1).bit_length()
        if needed > self.timestamp_bits:
            raise ValueError(
                f"Parameter timestamp_bits must be at least {needed} for the epochs "
                f"of the trace, not {self.timestamp_bits}: add --set timestamp_bits={needed}"
            )

    @property
    def position_bits(self) -> int:
        """Bits of an entry's age in its queue."""
        return index_bits(self.history_depth)

    @property
    def usb_count_bits(self) -> int:
        """Bits of the number of USB values of a set."""
        return self.usb_limit.bit_length()

    @property
    def counter_bits(self) -> int:
        """Bits of the Committed Instruction Counter; it cannot overflow within one event."""
        return (self.block_instructions + (1 << INSTRUCTION_BITS)).bit_length()

    # Streams ----------------------------------------------------------------------------

    @cached_property
    def event_layout(self) -> Layout:
        """Event from a core's commit stage, or of its instructions of Table 1, for the core
        unit."""
        return Layout({
            "op": 4,
            "data": 32,
            "size": MAX_ACCESS_BYTES.bit_length(),
            "index": 12,
            "instructions": INSTRUCTION_BITS,
            "pc": self.pc_bits,
        })  # fmt: skip

    @cached_property
    def core_step_layout(self) -> Layout:
        """Trace port of a core unit: the event taken, and the state after it."""
        return Layout({
            "event": self.event_layout,
            "collecting": 1,
            "counter": self.counter_bits,
            "thread": self.thread_bits,
            "own": self.timestamp_bits,
            "read_values": self.usb_count_bits,
            "write_values": self.usb_count_bits,
            "sent": 3,
            "cause": 3,
            "traps": 3,
            "saturated": 1,
        })  # fmt: skip

    @cached_property
    def trap_layout(self) -> Layout:
        """Trap record: an access that hit the Conflict Signature."""
        return Layout({"address": ADDRESS_BITS, "pc": self.pc_bits, "is_write": 1})

    @cached_property
    def flit_layout(self) -> Layout:
        """Flit of a Summary message."""
        return Layout({"data": FLIT_BITS, "last": 1})

    @cached_property
    def header_layout(self) -> Layout:
        """First flit of a Summary message."""
        return Layout({
            "core": 8, "context": 4, "thread": 8, "sequence": 8, "cause": 3, "is_hashed": 1,
        })  # fmt: skip

    @cached_property
    def summary_layout(self) -> Layout:
        """A decompressed Summary message, as output by the RDM's decompressor."""
        return Layout({
            "header": self.header_layout,
            "timestamp": self.timestamp_width,
            "read": self.signature_bits,
            "write": self.signature_bits,
            "is_malformed": 1,
        })  # fmt: skip

    @cached_property
    def history_layout(self) -> Layout:
        """Entry of a BlockHistoryQueue."""
        return Layout({
            "timestamp": self.timestamp_width,
            "read": self.signature_bits,
            "write": self.signature_bits,
        })  # fmt: skip

    @cached_property
    def rdm_step_layout(self) -> Layout:
        """Trace port of the RDM: one comparison of timestamps, or the end of one message."""
        return Layout({
            "kind": 2,
            "core": 8,
            "context": 4,
            "thread": 8,
            "sequence": 8,
            "cause": 3,
            "other": 8,
            "position": self.position_bits,
            "relation": 2,
            "conflict": 3,
            "drop": 3,
            "lost": self.threads,
            "digest": 32,
        })  # fmt: skip

    @cached_property
    def log_layout(self) -> Layout:
        """Entry of the conflict log; software reads it in 32-bit words, lowest first."""
        return Layout({
            "thread": 8,
            "other": 8,
            "conflict": 3,
            "unused": 13,
            "thread_timestamp": self.timestamp_width,
            "other_timestamp": self.timestamp_width,
            "signature": self.signature_bits,
        })  # fmt: skip

    @property
    def log_words(self) -> int:
        """32-bit words of an entry of the conflict log."""
        return -(-self.log_layout.width // WORD_BITS)


def _rows(is_lsb: bool, input_bits: int, index_bits: int, name: str) -> tuple[int, ...]:
    """H3 matrix of a portion; the two bits of the LSB portion that are always 0 have zero rows."""
    if not is_lsb:
        return h3_rows(input_bits, index_bits, name)
    return (0,) * GRANULE_LOG2 + h3_rows(input_bits - GRANULE_LOG2, index_bits, name)
