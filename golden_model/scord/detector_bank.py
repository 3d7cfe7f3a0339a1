"""Detector bank: metadata accessor, fence file and detection logic.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from racetrap.golden_model.gpu.model import Counters, GpuDetectorBank, has, one_for_each
from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.golden_model.gpu.region_table import MonitoredRegion, RegionTable
from racetrap.golden_model.layout import Layout
from racetrap.golden_model.scord.detection_logic import Encounter, decide
from racetrap.golden_model.scord.fence_file import FenceFile
from racetrap.golden_model.scord.metadata import UNINITIALISED_ENTRY
from racetrap.golden_model.scord.packets import (
    Packet,
    PacketKind,
    Preliminary,
    RaceKind,
    Step,
    TableRow,
)
from racetrap.golden_model.scord.params import ScordParams

_FENCE: Final = int(PacketKind.FENCE)
_NONE: Final = Preliminary.NONE
_NO_RACE: Final = RaceKind.NONE


class Counted(NamedTuple):
    """Fields of a step that counters use: numbers, or arrays over many steps."""

    kind: Any
    row: Any
    preliminary: Any
    race: Any
    tag_conflict: Any
    read_error: Any


#: Counters of the bank.
COUNTERS: Final[Counters] = {
    "accesses": lambda step: (step.row != TableRow.FENCE) & (step.row != TableRow.UNMONITORED),
    "fences": has("row", TableRow.FENCE),
    "unmonitored": has("row", TableRow.UNMONITORED),
    **one_for_each(Preliminary, "preliminary", "preliminary"),
    **one_for_each(RaceKind, "race", "races"),
    "tag_conflicts": has("tag_conflict", 1),
    "metadata_read_errors": has("read_error", 1),
}


# Words of a line and iterations of a loop repeat the same decisions.
@lru_cache(1 << 14)
def decide_packed(
    layout: Layout, access: tuple[int, ...], generation: int, tag: int, own_blk: int, own_dev: int,
    entry: int | None = None, owner_blk: int = 0, owner_dev: int = 0,
) -> tuple[TableRow, Preliminary, RaceKind, int]:  # fmt: skip
    """The decision tables on a packed entry, and the packed entry after the access.

    Parameters
    ----------
    layout : Layout
        Layout of an entry.
    access : tuple of int
        Fields of the packet before ``pc``: the tables use neither that nor the word.
    generation : int
        Its generation.
    tag : int
        As of ``Encounter``.
    own_blk, own_dev : int
        Current fence counters of the accessing warp.
    entry : int or None
        Entry as read; None if it is uninitialised.
    owner_blk, owner_dev : int
        Current fence counters of the entry's owner.
    """
    packet = Packet._make((*access, 0, 0, generation))
    rule, after = decide(Encounter(
        packet, layout.unpack(entry or 0), entry is None, tag,
        (owner_blk, owner_dev), (own_blk, own_dev),
    ))  # fmt: skip
    return rule.row, rule.condition.preliminary, rule.condition.race, layout.pack(after)


class DetectorBank(GpuDetectorBank):
    """Checks packets in the order in which they arrive.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    region : MonitoredRegion
        Monitored region, or table of regions.
    bank : int
        Number of this bank; it only names the bank, packets are expected to be routed already.

    Attributes
    ----------
    entries
        As of ``GpuDetectorBank``.
    fence_file : FenceFile
        Fence counters as this bank sees them; in hardware the banks of a port share a file, since
        a fence reaches them in one cycle.

    Raises
    ------
    ValueError
        If the region cannot be used with the parameters, or there is no such bank.
    """

    counted, counter_table = Counted, COUNTERS

    def __init__(self, params: ScordParams, region: MonitoredRegion, bank: int = 0) -> None:
        if not 0 <= bank < params.banks:
            raise ValueError(f"Bank must be from 0 to {params.banks - 1}, not {bank}")
        super().__init__(params, region)
        self.bank = bank
        self.fence_file = FenceFile(params)
        self._table = region if isinstance(region, RegionTable) else None
        self._index_mask = self._index_bits = self._region_shift = self._region_number = 0
        if not isinstance(region, RegionTable):
            entries = region.entries(params)
            self._index_mask = entries - 1
            self._index_bits = entries.bit_length() - 1
            self._region_shift = region.size_log2 - 2
            self._region_number = region.data_base >> region.size_log2
        self._word_mask = (1 << self._region_shift) - 1
        self._granule_shift = params.granularity_bits - 2
        self._layout = layout = params.entry_layout
        self._owner, self._tag = layout.offset("warp"), layout.offset("tag")
        self._warp_bits = params.warp_bits
        self._owner_mask = (1 << params.warp_bits + params.block_bits) - 1
        self._tag_mask = (1 << params.tag_bits) - 1

    def step(self, packet: Packet, read_error: bool = False) -> Step:
        """Check one packet.

        Parameters
        ----------
        packet : Packet
            Access or fence.
        read_error : bool
            Whether the metadata memory answers this access with an error; the entry is then
            taken as uninitialised.  Fences and unmonitored accesses read nothing.
        """
        block, warp, word = packet[3], packet[4], packet[8]
        if packet[0] == _FENCE:
            return self._fence(packet)
        if self._table is not None:
            address = word * WORD_BYTES
            if not self._table.contains(address):
                return self._unmonitored_step(packet)
            index, tag = self._table.locate(self._params, address)
        else:
            if word >> self._region_shift != self._region_number:
                return self._unmonitored_step(packet)
            # ``Region.locate`` by masks.
            granule = (word & self._word_mask) >> self._granule_shift
            index, tag = granule & self._index_mask, granule >> self._index_bits
        tag_conflict = 0
        if read_error:
            entry, is_uninitialised = 0, True
        else:
            entry = self.entries.get(index, UNINITIALISED_ENTRY)
            is_uninitialised = entry & UNINITIALISED_ENTRY == UNINITIALISED_ENTRY
            if not is_uninitialised and entry >> self._tag & self._tag_mask != tag:
                tag_conflict, is_uninitialised = 1, True

        fences = self.fence_file
        owner = fences.slot[entry >> self._owner & self._owner_mask]
        accessor = fences.slot[block << self._warp_bits | warp]
        owner_blk, owner_dev = fences.blk[owner], fences.dev[owner]
        own_blk, own_dev = fences.blk[accessor], fences.dev[accessor]
        row, preliminary, race, after = decide_packed(
            self._layout, packet[:7], packet[9], tag, own_blk, own_dev,
            *(() if is_uninitialised else (entry, owner_blk, owner_dev)),
        )  # fmt: skip
        self.entries[index] = after
        self._counted[packet[0], row, preliminary, race, tag_conflict, int(read_error)] += 1
        return Step(
            packet, row, preliminary, race, tag_conflict, int(read_error),
            owner_blk, owner_dev, own_blk, own_dev, entry, after,
        )  # fmt: skip

    def clear(self) -> None:
        """Make metadata uninitialised and reset the fence file, as at launch; counters stay."""
        super().clear()
        self.fence_file.clear()

    def _unmonitored_step(self, packet: Packet) -> Step:
        self._counted[packet[0], TableRow.UNMONITORED, 0, 0, 0, 0] += 1
        return Step(packet, TableRow.UNMONITORED, _NONE, _NO_RACE, 0, 0, 0, 0, 0, 0, 0, 0)

    def _fence(self, packet: Packet) -> Step:
        self.fence_file.fence(packet.block, packet.warp, packet.scope)
        self._counted[_FENCE, TableRow.FENCE, 0, 0, 0, 0] += 1
        own_blk, own_dev = self.fence_file.read(packet.block, packet.warp)
        return Step(packet, TableRow.FENCE, _NONE, _NO_RACE, 0, 0, 0, 0, own_blk, own_dev, 0, 0)
