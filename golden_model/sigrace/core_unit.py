"""Core unit: collects the addresses of a block, keeps the timestamp, detects conflicts.

One for each hardware context of a core.

Ref: SigRace (ISCA'09) Sections 3.2, 3.3 and 4, Fig. 5, Table 1.
"""

from __future__ import annotations

from racetrap.golden_model.sigrace.address_ring import AddressRing
from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.packets import Cause, CoreEvent, CoreOp, CoreStep, Mode, Trap
from racetrap.golden_model.sigrace.params import ADDRESS_BITS, WORD_BITS, Form, SigraceParams
from racetrap.golden_model.sigrace.signature import signature_hash
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2, bytes_used

_INSTRUCTIONS = int(CoreOp.INSTRUCTIONS)
_STORE = int(CoreOp.STORE)
_COLLECT_ON = int(CoreOp.COLLECT_ON)
_COLLECT_OFF = int(CoreOp.COLLECT_OFF)
_SYNC_REACHED = int(CoreOp.SYNC_REACHED)
_TS_WRITE = int(CoreOp.TS_WRITE)
_SWITCH_OUT = int(CoreOp.SWITCH_OUT)
_SWITCH_IN = int(CoreOp.SWITCH_IN)
_MODE = int(CoreOp.MODE)
_TRT_WRITE = int(CoreOp.TRT_WRITE)
_CONFLICT_WRITE = int(CoreOp.CONFLICT_WRITE)
_RESET = int(CoreOp.RESET)
_ANALYSIS = int(Mode.ANALYSIS)
_LIMIT, _SYNC = int(Cause.LIMIT), int(Cause.SYNC)
_SWITCH, _FULL = int(Cause.SWITCH), int(Cause.FULL)
_GRANULES_MASK = (1 << ADDRESS_BITS - GRANULE_LOG2) - 1
_WORD_MASK = (1 << WORD_BITS) - 1


class CoreUnit:
    """Takes the events of one context.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    core, context : int
        Place of the unit.
    ring : AddressRing or None
        Where the accesses of its blocks are kept, if they are.

    Attributes
    ----------
    params : SigraceParams
        Configuration.
    blocks : list of FinishedBlock
        Blocks sent, oldest first; the caller takes them out.
    traps : list of Trap
        Trap records, oldest first; the caller takes them out.
    timestamp, trt : list of int
        Counters of the thread's timestamp, and of the Timestamp to Reach.
    collecting, is_conflicting, saturated : bool
        Whether addresses are collected; the CT flag; whether a counter has saturated.
    counter, thread, mode, sequence : int
        Committed Instruction Counter, SigRaceID, ``Mode``, number of the next message.
    conflict_signature : int
        Signature of the addresses that trap.
    """

    def __init__(
        self, params: SigraceParams, core: int = 0, context: int = 0,
        ring: AddressRing | None = None,
    ) -> None:  # fmt: skip
        self._ring = ring
        self.core = core
        self.context = context
        self.blocks: list[FinishedBlock] = []
        self.traps: list[Trap] = []
        self.sequence = 0
        self.params = params
        self._threads = params.threads
        self._block_instructions = params.block_instructions
        self._max_count = (1 << params.counter_bits) - 1
        self._max_counter = params.max_counter
        self._usb_limit = params.usb_limit
        self._lsb_bits = params.lsb_bits - GRANULE_LOG2
        self._lsb_mask = params.lsb_values - 1
        self._is_hashed = params.form is Form.HASHED
        self._hash = signature_hash(params)
        self._sent = 0
        self._trapped = 0
        self._cause = 0
        self._reset()

    def _reset(self) -> None:
        """Start of a program; sent messages and trap records are kept."""
        self.timestamp = [0] * self._threads
        self.trt = [0] * self._threads
        self.collecting = False
        self.is_conflicting = False
        self.saturated = False
        self.counter = 0
        self.thread = 0
        self.mode = 0
        self.conflict_signature = 0
        self._clear()
        if self._ring is not None:
            self._ring.drop()

    def _clear(self) -> None:
        """Begin a new block."""
        self.counter = 0
        self._sets = (AddressSet(), AddressSet())  # of reads and of writes
        self._signatures = [0, 0]

    def step(self, event: CoreEvent) -> CoreStep:
        """Take an event; return the step on the trace port."""
        self.take(event)
        read, write = self._sets
        return CoreStep(
            event,
            int(self.collecting),
            self.counter,
            self.thread,
            self.timestamp[self.thread],
            len(read.usb),
            len(write.usb),
            self._sent,
            self._cause,
            self._trapped,
            int(self.saturated),
        )

    def take(self, event: CoreEvent) -> None:
        """Take an event without a step."""
        op, data, size, index, instructions, pc = event
        self._sent = self._cause = self._trapped = 0
        collecting = self.collecting
        if collecting:
            self.counter = min(self.counter + instructions, self._max_count)
        if op <= _STORE:
            if collecting:
                self._access(data, size, pc, op)
        elif op != _INSTRUCTIONS:
            self._control(op, data, index)
            if op <= _RESET:
                return
        if collecting and self.counter >= self._block_instructions:
            self._end(_LIMIT)

    def _access(self, address: int, size: int, pc: int, is_write: int) -> None:
        """Collect, and test, the granules of an access, ascending."""
        watching = self.mode == _ANALYSIS and self.is_conflicting
        first = address >> GRANULE_LOG2
        last = address + size - 1 >> GRANULE_LOG2
        for number in range(first, last + 1):
            base = number << GRANULE_LOG2
            number &= _GRANULES_MASK
            if self._is_hashed:
                self._signatures[is_write] |= self._hash.granule(number << GRANULE_LOG2)
            else:
                usb = number >> self._lsb_bits
                addresses = self._sets[is_write]
                if usb not in addresses.usb:
                    if len(addresses.usb) == self._usb_limit:
                        self._end(_FULL)
                        addresses = self._sets[is_write]
                    addresses.usb.append(usb)
                addresses.bitmap |= 1 << (number & self._lsb_mask)
            if self._ring is not None:
                used = bytes_used(base, address, size)
                self._ring.record(number << GRANULE_LOG2, used, bool(is_write))
            if watching:
                bits = self._hash.granule(number << GRANULE_LOG2)
                if self.conflict_signature & bits == bits:
                    self.traps.append(Trap(number << GRANULE_LOG2, pc, is_write))
                    self._trapped += 1

    def _control(self, op: int, data: int, index: int) -> None:
        """Execute an op other than accesses and INSTRUCTIONS; undefined ones have no effect."""
        if op == _TS_WRITE:
            if index < self._threads:
                self._set_counter(index, data & self._max_counter)
        elif op == _SYNC_REACHED:
            self._end(_SYNC)
            self._set_counter(self.thread, min(self.timestamp[self.thread] + 1, self._max_counter))
        elif op in (_COLLECT_ON, _COLLECT_OFF):
            self.collecting = op == _COLLECT_ON
        elif op == _SWITCH_OUT:
            self._end(_SWITCH)
        elif op == _SWITCH_IN:
            if index < self._threads:
                self.thread = index
        elif op == _MODE:
            self.mode = data & 3
            self.is_conflicting = bool(data >> 2 & 1)
        elif op == _TRT_WRITE:
            if index < self._threads:
                self.trt[index] = data & self._max_counter
        elif op == _CONFLICT_WRITE:
            self._write_conflict(index, data)
        elif op == _RESET:
            self._reset()

    def _set_counter(self, index: int, value: int) -> None:
        self.timestamp[index] = value
        if value == self._max_counter:
            self.saturated = True

    def _write_conflict(self, word: int, data: int) -> None:
        """Replace a word of the Conflict Signature."""
        if word < self.params.signature_words:
            offset = word * WORD_BITS
            kept = self.conflict_signature & ~(_WORD_MASK << offset)
            all_bits = (1 << self.params.signature_bits) - 1
            self.conflict_signature = (kept | data << offset) & all_bits

    def _end(self, cause: int) -> None:
        """End the block; an empty one is not sent."""
        self._cause = cause
        read: AddressSet | int
        write: AddressSet | int
        if self._is_hashed:
            read, write = self._signatures
            is_empty = not (read or write)
        else:
            read, write = self._sets
            is_empty = not (read.usb or write.usb)
        if not is_empty:
            timestamp = tuple(self.timestamp)
            block = FinishedBlock(
                self.core, self.context, self.thread, self.sequence, cause, timestamp, read, write
            )
            self.blocks.append(block)
            if self._ring is not None:
                self._ring.end()
            self.sequence = self.sequence + 1 & (1 << self.params.sequence_bits) - 1
            self._sent += 1
        self._clear()
