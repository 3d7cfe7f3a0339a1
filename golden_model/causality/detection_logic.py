"""Decision: what an access does to the entry of its word, and whether it races.

The rules are functions of the entry, the packet and the row of its warp alone.

Ref: ScoRD (ISCA'20) Section VI; strong accesses and scopes as in the PTX memory model.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from racetrap.golden_model.causality.entry import Entry, Side
from racetrap.golden_model.causality.packets import (
    Against,
    Observed,
    Packet,
    RaceKind,
    Undecided,
)
from racetrap.golden_model.causality.warp_row import WarpRow
from racetrap.golden_model.gpu.params import WORD_BYTES

_WORD_MASK = (1 << WORD_BYTES) - 1


class Conflict(IntEnum):
    """What two conflicting accesses that nothing orders are."""

    STRONG = 0
    FLAG_READ = 1
    FLAG_WRITTEN = 2
    RACE = 3


class Decision(NamedTuple):
    """What a packet does.

    Parameters
    ----------
    after : Entry
        Entry left behind.
    against : Against
        Earlier accesses that it races with.
    undecided : Undecided
        Volatile accesses that may be flags: the collector decides later.
    met : bool
        Whether it reads a message that its warp may acquire.
    took_on : bool
        Whether it takes on a message that it does not end.
    """

    after: Entry
    against: Against
    undecided: Undecided
    met: bool
    took_on: bool


def fits(side: Side, packet: Packet, row: WarpRow) -> bool:
    """Whether the scopes of two strong accesses include each other."""
    return row.in_block(side, packet.block) or bool(side.device and packet.device)


def released(side: Side, packet: Packet, row: WarpRow) -> int:
    """Whether a write is behind a release of a scope that includes the packet's warp."""
    return side.released if row.in_block(side, packet.block) else side.released_device


def conflict(side: Side, is_writer: bool, packet: Packet, row: WarpRow) -> Conflict:
    """What a packet and an unordered earlier access are."""
    if not (side.strong and packet.strong) or side.size != packet.size:
        return Conflict.RACE
    if not fits(side, packet, row):
        return Conflict.RACE
    if side.named and packet.named:
        return Conflict.STRONG
    if is_writer and packet.reads and (side.handed or released(side, packet, row)):
        return Conflict.STRONG if packet.writes else Conflict.FLAG_READ
    same_block = row.in_block(side, packet.block)
    has_released = packet.released if same_block else packet.released_device
    if packet.writes and has_released and (not is_writer or side.atomic):
        if row.is_own(side, packet.warp):
            return Conflict.STRONG
        return Conflict.FLAG_WRITTEN
    return Conflict.RACE


def missing(packet: Packet, row: WarpRow, side: Side, owner: WarpRow) -> RaceKind:
    """What would have ordered a packet behind an earlier access, and is missing.

    Parameters
    ----------
    packet, row
        The packet, and the row of its warp.
    side : Side
        The earlier access.
    owner : WarpRow
        Row of the warp slot of that access.
    """
    if row.is_own(side, packet.warp):
        return RaceKind.WARP_BARRIER
    if side.strong and packet.strong and not fits(side, packet, row):
        return RaceKind.SCOPE
    # A flag that comes behind a release is not released itself: it lacks the acquire alone.
    is_flag = bool(side.strong and packet.strong and packet.reads)
    is_released = owner.release >= side.clock or (is_flag and bool(side.released))
    if row.in_block(side, packet.block):
        if is_released:
            return RaceKind.ACQUIRE
        return RaceKind.RELEASE if owner.release >= owner.start else RaceKind.BARRIER
    if owner.release_device >= side.clock or (is_flag and side.released_device):
        return RaceKind.ACQUIRE
    return RaceKind.SCOPE if is_released else RaceKind.RELEASE


def decide(entry: Entry, packet: Packet, row: WarpRow, has_wrapped: bool) -> Decision:
    """The decision on one packet.

    Parameters
    ----------
    entry : Entry
        The word's entry.
    packet : Packet
        The access.
    row : WarpRow
        Row of its warp.
    has_wrapped : bool
        Whether clocks have wrapped in this launch: a message may have gone with an old entry.
    """
    met = _meets_message(entry, packet, row)
    against, undecided = Against.NONE, Undecided.NONE
    if not (met and packet.acquire):
        # An acquire that finds a message comes behind what it does not know yet.
        against, undecided = _conflicts(entry, packet, row)
    took_on = False
    after = entry
    if packet.writes:
        after, took_on = _write(entry, packet, has_wrapped)
    elif packet.reads:
        after = _read(entry, packet, row)
    return Decision(after, against, undecided, met, took_on)


def _meets_message(entry: Entry, packet: Packet, row: WarpRow) -> bool:
    writer = entry.writer
    if not (packet.reads and packet.strong and entry.message) or writer is None:
        return False
    if not entry.mixed:
        if writer.size != packet.size or not fits(writer, packet, row):
            return False
        if row.is_same_lane(writer, packet.warp, packet.lanes):
            return False
    return bool(released(writer, packet, row))


def _conflicts(entry: Entry, packet: Packet, row: WarpRow) -> tuple[Against, Undecided]:
    kinds = [Conflict.STRONG, Conflict.STRONG]
    # Lanes of one atomic acquire each other's releases, and what one of them comes behind.
    lanes_meet = packet.acquire and packet.released and packet.lanes.bit_count() > 1
    for place, side in enumerate((entry.writer, entry.reader)):
        if side is None or not side.bytes & packet.bytes or (place and not packet.writes):
            continue
        lanes = row.unordered(side, packet.warp, packet.block, packet.lanes)
        if not place:
            lanes = _unordered_by_observers(entry, packet, row, lanes)
        if not lanes:
            continue
        if lanes_meet and (lanes != packet.lanes or row.is_own(side, packet.warp)):
            continue
        kinds[place] = conflict(side, not place, packet, row)
    if kinds[1] == Conflict.FLAG_WRITTEN and _is_flag_of(entry, packet):
        kinds[1] = Conflict.STRONG
    against = (kinds[0] == Conflict.RACE) * Against.WRITER + (
        kinds[1] == Conflict.RACE
    ) * Against.READER
    written = [kind == Conflict.FLAG_WRITTEN for kind in kinds]
    if kinds[0] == Conflict.FLAG_READ:
        return Against(against), Undecided.READ
    return Against(against), Undecided(written[0] + 2 * written[1] + (written[0] or written[1]))


def _is_flag_of(entry: Entry, packet: Packet) -> bool:
    """Whether others have read a message by the packet's instruction, which writes the flag
    again."""
    writer, is_read = entry.writer, entry.observed != Observed.NOBODY
    return bool(writer and entry.message and is_read and writer.place == packet.place)


def _unordered_by_observers(entry: Entry, packet: Packet, row: WarpRow, lanes: int) -> int:
    """Those of some lanes that do not come behind a read that observed the last write."""
    if entry.observed == Observed.SEVERAL:
        return 0
    if entry.observed == Observed.NOBODY or entry.reader is None:
        return lanes
    return row.unordered(entry.reader, packet.warp, packet.block, lanes)


def _side(packet: Packet) -> Side:
    return Side(
        packet.warp, packet.block, packet.clock, packet.lane,
        0, packet.bytes, packet.strong, packet.named,
        int(packet.is_atomic), packet.device, packet.sc, packet.size,
    )  # fmt: skip


def _joined(old: Side | None, new: Side) -> Side:
    """A side that has the bytes of an earlier access by the same warp, too, if they are alike."""
    if old is None or not old.bytes & ~new.bytes:
        return new
    several = int(old.lane != new.lane or old.several)
    joined = new._replace(bytes=old.bytes | new.bytes, several=several)
    by_new = {"bytes": joined.bytes, "lane": new.lane, "several": several, "place": new.place}
    return joined if old._replace(**by_new) == joined else new


def _read(entry: Entry, packet: Packet, row: WarpRow) -> Entry:
    new, writer, reader = _side(packet), entry.writer, entry.reader
    observed = Observed(entry.observed)
    observes = (
        writer is not None and writer.strong and packet.strong and writer.size == packet.size
        and writer.bytes & packet.bytes
        and (fits(writer, packet, row) or writer.warp == packet.warp)
    )  # fmt: skip
    if observes:
        is_same = (
            reader is not None and row.is_own(reader, packet.warp)
            and reader.clock == packet.clock and reader.lane == packet.lane
        )  # fmt: skip
        first = observed == Observed.NOBODY or (observed == Observed.READER and is_same)
        is_one = packet.lanes.bit_count() == 1
        observed = Observed.READER if first and is_one else Observed.SEVERAL
    elif observed == Observed.READER:
        observed = Observed.SEVERAL
    return entry._replace(observed=observed, reader=_joined(reader, new))


def _write(entry: Entry, packet: Packet, has_wrapped: bool) -> tuple[Entry, bool]:
    old, rest = entry.writer, entry.message & ~packet.bytes
    had, unknown = bool(entry.message), packet.is_atomic and entry.unknown
    took_on = had and bool(packet.is_atomic or rest)
    new = _side(packet)._replace(
        released=packet.released or int(unknown),
        released_device=packet.released_device or int(unknown),
        operation=packet.release,
        handed=int(took_on or unknown or (packet.is_atomic and not had and has_wrapped)),
        place=packet.place,
    )
    is_message = packet.strong and (packet.released or packet.released_device)
    if took_on and old is not None:
        new = new._replace(
            released=new.released | old.released,
            released_device=new.released_device | old.released_device,
        )
    is_message = is_message or took_on or unknown
    message = packet.bytes | rest if is_message else 0
    still_unknown = entry.unknown and not packet.is_atomic and packet.bytes != _WORD_MASK
    return (
        entry._replace(
            unknown=int(still_unknown), observed=Observed.NOBODY, message=message,
            mixed=int(bool(took_on and (entry.mixed or rest))),
            writer=_joined(old, new), reader=None,
        ),
        took_on,
    )  # fmt: skip
