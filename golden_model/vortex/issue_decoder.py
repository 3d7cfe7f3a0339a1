"""Issue decoder: what a GPU detector must know of an instruction that Vortex issues.

Vortex is an open RISC-V GPU of others.  All instructions of a core pass one place in the order of
issue, before the units that execute them; a packed word has each with its operands there.

Ref: Vortex 3.0, VX_operands; ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from racetrap.golden_model.layout import Layout

#: Size of the core, in its packaged configuration.
LANES, WARPS, SLOTS = 4, 4, 4
#: Bits of an instruction's number, which also marks its requests to memory.
UUID_BITS = 44
_REGISTER_BITS = 32
_NUMBER_BITS, _REPEAT_BITS = 24, 8

#: Packed word of an instruction at issue; each operand has that of lane 0 lowest.
ISSUE_LAYOUT = Layout({
    "ends": 2,
    "third": LANES * _REGISTER_BITS,
    "second": LANES * _REGISTER_BITS,
    "first": LANES * _REGISTER_BITS,
    "destination": 13,
    "offset": 12,
    "is_float": 1,
    "is_store": 1,
    "packed": 2,
    "arguments": 9,
    "operation": 4,
    "unit": 2,
    "pc": 32,
    "lanes": LANES,
    "unused": 1,
    "slot": 2,
    "warp": 2,
    "uuid": UUID_BITS,
})  # fmt: skip
_WARP_OFFSET = ISSUE_LAYOUT.offset("warp")


class Unit(IntEnum):
    """Unit that executes an instruction; the others concern no detector."""

    LOAD_STORE = 1
    SPECIAL = 2


class SpecialOperation(IntEnum):
    """Operations of the special unit that concern a detector."""

    TMC = 0
    WSPAWN = 1
    BAR = 4
    WSYNC = 10


class Action(IntEnum):
    """What an instruction is to a detector."""

    LOAD = 0
    STORE = 1
    FENCE = 2
    WSYNC = 3
    BARRIER = 4
    ARRIVE = 5
    END = 6
    UNSUPPORTED = 7


#: Operations of the load/store unit: their upper two bits.
_LOADS, _FENCE = (0, 1), 3
#: Bit of a barrier's first operand that asks for one of several cores, and of its second that asks
#: for one that counts bytes.
BIT_OF_OTHER_BARRIERS = 31


class Issued(NamedTuple):
    """An instruction that concerns a detector.

    Parameters
    ----------
    action : Action
        What it is.
    uuid, warp, slot, lanes, pc : int
        Number, warp slot, block slot, active lanes and program counter.
    size : int
        LOAD, STORE: log2 of the bytes that a lane accesses.
    addresses : tuple of int
        LOAD, STORE: first byte that each lane would access; of inactive lanes as well.
    values : tuple of int
        STORE: what each lane would store, in its lowest bytes.
    number, warps : int
        BARRIER, ARRIVE: number of the barrier, and warps that must arrive.
    """

    action: int
    uuid: int
    warp: int
    slot: int
    lanes: int
    pc: int
    size: int = 0
    addresses: tuple[int, ...] = (0,) * LANES
    values: tuple[int, ...] = (0,) * LANES
    number: int = 0
    warps: int = 0


def warp_of(word: int) -> int:
    """Warp slot of a packed word, whatever its instruction."""
    return word >> _WARP_OFFSET & WARPS - 1


def decode(word: int) -> Issued | None:
    """What a packed word is to a detector; None if nothing.

    A packed load is issued once for each element, whose number is in the offset: the second operand
    is the distance of elements.  Operands of the special unit are those of the highest active lane.
    ``tmc`` ends a warp if no lane remains.  Not supported are warps that a warp spawns, and
    barriers that a warp waits for without arriving, of several cores, or that count bytes.
    """
    fields = ISSUE_LAYOUT.unpack(word)
    issued = Issued(
        Action.UNSUPPORTED, *(fields[name] for name in ("uuid", "warp", "slot", "lanes", "pc"))
    )
    if fields["unit"] == Unit.LOAD_STORE:
        return _memory(issued, fields)
    if fields["unit"] != Unit.SPECIAL or not issued.lanes:
        return None
    operation, lane = fields["operation"], issued.lanes.bit_length() - 1
    first, second = (_registers(fields[name])[lane] for name in ("first", "second"))
    if operation == SpecialOperation.BAR:
        waits, arrives = fields["offset"] >> 1 & 1, fields["offset"] & 1
        is_other = (first | second) >> BIT_OF_OTHER_BARRIERS & 1
        if is_other or not waits | arrives:
            return issued
        action = Action.BARRIER if waits else Action.ARRIVE
        return issued._replace(action=action, number=first >> 8 & 7, warps=second & 7)
    if operation == SpecialOperation.TMC:
        ends = not first & ((1 << LANES) - 1)
        return issued._replace(action=Action.END) if ends else None
    if operation == SpecialOperation.WSYNC:
        return issued._replace(action=Action.WSYNC)
    return issued if operation == SpecialOperation.WSPAWN else None


def _memory(issued: Issued, fields: dict[str, int]) -> Issued:
    operation, offset = fields["operation"], fields["offset"]
    if operation >> 2 == _FENCE:
        return issued._replace(action=Action.FENCE)
    second = _registers(fields["second"])
    signed = offset - ((offset & 0x800) << 1)
    distances = [signed] * LANES
    if fields["packed"]:
        distances = [(offset & 3) * distance for distance in second]
    bases = _registers(fields["first"])
    return issued._replace(
        action=Action.LOAD if operation >> 2 in _LOADS else Action.STORE,
        size=operation & 3,
        addresses=tuple(
            base + distance & 0xFFFF_FFFF
            for base, distance in zip(bases, distances, strict=True)
        ),
        values=second,
    )  # fmt: skip


def _registers(operand: int) -> tuple[int, ...]:
    return tuple(operand >> _REGISTER_BITS * lane & 0xFFFF_FFFF for lane in range(LANES))


def order_key(uuid: int) -> int:
    """A number that grows from instruction to instruction of a warp, modulo 2**32.

    Elements of a packed load share the lowest bits of their number.
    """
    number = uuid & (1 << _NUMBER_BITS) - 1
    return number << _REPEAT_BITS | uuid >> _NUMBER_BITS & (1 << _REPEAT_BITS) - 1


def may_pass(passed: int, uuid: int) -> bool:
    """Whether an instruction has passed, given the key of the last one of its warp that has."""
    return (passed - order_key(uuid)) >> 31 & 1 == 0
