"""Detector bank: the entries of its words, and the decision on each access.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6, and Section VI.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from racetrap.golden_model.causality.detection_logic import Decision, decide
from racetrap.golden_model.causality.entry import Entry
from racetrap.golden_model.causality.packets import Packet
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.warp_row import WarpRow
from racetrap.golden_model.gpu.entry_locator import locate
from racetrap.golden_model.gpu.region import Region

_EMPTY = Entry()


class Step(NamedTuple):
    """What a bank did with one packet: the payload of its trace port.

    ``before`` is the entry that was decided on: that of another word, of older epochs or of an
    older block's shared memory is empty.  ``fenced`` says whether the bank knew of a ``fence.sc``.
    Of an access that is not monitored ``monitored`` is 0.
    """

    packet: Packet
    monitored: int
    against: int
    undecided: int
    met: int
    took_on: int
    unknown: int
    displaced: int
    read_error: int
    fenced: int
    before: Entry
    after: Entry


def concerns_collector(step: Step, row: WarpRow) -> bool:
    """Whether a step changes what the collector knows, or is a race: all others it need not see.

    Parameters
    ----------
    step : Step
        A bank's step.
    row : WarpRow
        Row of its packet's warp.
    """
    packet, before = step.packet, step.before
    if not step.monitored:
        return False
    # Also if the message does not fit: it may pass through its writer.
    reads_message = before.message and packet.reads and packet.strong
    lanes_meet = (
        packet.writes
        and packet.lanes.bit_count() > 1
        and (packet.sc or (packet.is_atomic and packet.released))
    )
    sees_others = step.fenced and any(
        side is not None and not row.is_same_lane(side, packet.warp, packet.lanes)
        for side in (before.writer, before.reader)
    )
    return bool(
        step.against or step.undecided or step.took_on or step.unknown
        or packet.unequal or reads_message or lanes_meet or sees_others
    )  # fmt: skip


class DetectorBank:
    """Checks packets in the order in which they arrive.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    region : Region
        Monitored region.
    rows : sequence of WarpRow
        Rows by warp slot of the GPU; the collector writes them.
    has_fenced : callable
        Whether any warp has passed a ``fence.sc`` in this launch.

    Attributes
    ----------
    entries : dict of int to Entry
        Metadata entries by index; an absent one is empty.
    """

    def __init__(
        self, params: CausalityParams, region: Region, rows: Sequence[WarpRow],
        has_fenced: Callable[[], bool],
    ) -> None:  # fmt: skip
        region.check(params)
        self.entries: dict[int, Entry] = {}
        self._params, self._region, self._rows, self._has_fenced = params, region, rows, has_fenced
        self._counts: Counter[str] = Counter()
        self.epoch = 0
        self._has_wrapped = False

    def step(self, packet: Packet, read_error: bool = False) -> Step:
        """Check one packet.

        Parameters
        ----------
        packet : Packet
            Access of a warp to a word.
        read_error : bool
            Whether the metadata memory answers this access with an error; the entry is then
            taken as empty.
        """
        place = locate(self._params, self._region, packet)
        if place is None:
            self._counts["unmonitored"] += 1
            return Step(packet, 0, 0, 0, 0, 0, 0, 0, 0, 0, _EMPTY, _EMPTY)
        index, tag = place
        row = self._rows[packet.warp]
        found = _EMPTY if read_error else self.entries.get(index, _EMPTY)
        before, displaced = self._entry_of_word(found, tag, packet, row)
        decision = decide(before, packet, row, self._has_wrapped)
        self.entries[index] = decision.after
        self._count(decision, read_error)
        return Step(
            packet, 1, decision.against, decision.undecided, int(decision.met),
            int(decision.took_on), before.unknown, displaced, int(read_error),
            int(self._has_fenced()), before, decision.after,
        )  # fmt: skip

    def _entry_of_word(
        self, found: Entry, tag: int, packet: Packet, row: WarpRow
    ) -> tuple[Entry, int]:
        """The word's entry, and whether it displaces another's."""
        fresh = Entry(epoch=self.epoch, tag=tag, lost=found.lost, unknown=found.lost)
        if found.epoch != self.epoch or (found.writer is None and found.reader is None):
            return fresh, 0
        if found.tag == tag:
            if packet.shared:
                found = _of_block(found, row)
            return found, 0
        if self._leads_on(found):
            self._counts["messages_dropped"] += 1
            fresh = fresh._replace(lost=1, unknown=1)
        self._counts["tag_conflicts"] += 1
        return fresh, 1

    def _leads_on(self, entry: Entry) -> bool:
        """Whether somebody who meets the entry's word later learns from it what is ordered: by its
        message, or, once there has been a ``fence.sc``, by what its warps have met."""
        return bool(entry.message or entry.unknown or self._has_fenced())

    def _count(self, decision: Decision, read_error: bool) -> None:
        counts = self._counts
        counts["accesses"] += 1
        counts["metadata_read_errors"] += read_error
        counts["messages_met"] += decision.met

    def begin_epoch(self) -> None:
        """Take all accesses so far as ordered: entries of other epochs are empty.

        When the numbers of epochs wrap, metadata are cleared.  Nothing of that is missed:
        what was displaced could only tell of accesses of before, which count as ordered.
        """
        self.epoch = (self.epoch + 1) % (1 << self._params.epoch_bits)
        self._has_wrapped = True
        if self.epoch == 0:
            self.entries.clear()

    def clear(self) -> None:
        """Make metadata empty, as at launch; counters stay."""
        self.entries.clear()
        self.epoch = 0
        self._has_wrapped = False

    @property
    def counters(self) -> dict[str, int]:
        """Counters by name since construction (``accesses`` are those checked)."""
        return dict(self._counts)


def _of_block(entry: Entry, row: WarpRow) -> Entry:
    """An entry of shared memory without what a block before in the slot has left."""
    writer = entry.writer if entry.writer and entry.writer.clock >= row.start else None
    reader = entry.reader if entry.reader and entry.reader.clock >= row.start else None
    if writer is entry.writer and reader is entry.reader:
        return entry
    if writer is None:
        return Entry(entry.epoch, entry.tag, entry.lost, entry.unknown, reader=reader)
    return entry._replace(reader=reader)
