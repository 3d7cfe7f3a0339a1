"""Race reports, as software reads them from the ring buffer.

Ref: ScoRD (ISCA'20) Section IV (contents of a report) and Table IV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from racetrap.golden_model.events import Scope
from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.golden_model.gpu.report import RingReport, words_of
from racetrap.golden_model.layout import Layout
from racetrap.golden_model.scord.detection_logic import LOAD_TABLE, STORE_TABLE
from racetrap.golden_model.scord.metadata import unpack_entry
from racetrap.golden_model.scord.packets import PacketKind, RaceKind, Step
from racetrap.golden_model.scord.params import ScordParams

_REASONS = {
    RaceKind.MISSING_BLOCK_FENCE: "no fence of the earlier warp lies between them",
    RaceKind.MISSING_DEVICE_FENCE: "no device-scope fence of the earlier warp lies between them",
    RaceKind.NOT_STRONG: "not all accesses to this location are strong (volatile or atomic)",
    RaceKind.SCOPED_ATOMIC: "the earlier atomic has block scope only",
    RaceKind.MISSING_LOCK: "they hold no lock in common",
}


def race_words(race: int) -> str:
    """Name of a race kind for people and files, such as ``missing-block-fence``."""
    return words_of(RaceKind(race))


@dataclass(frozen=True, slots=True)
class RaceReport(RingReport):
    """One race, with both parties.

    Parameters
    ----------
    address : int
        Byte address of the word (of the first word of the granule, for loads and stores).
    pc : int
        Program counter of the access that found the race.
    sequence : int
        Number of the race since reset.
    block, warp, kind : int
        BlockID, warp slot and kind (``PacketKind``) of that access.
    owner_block, owner_warp : int
        BlockID and warp slot of the earlier party.
    race : int
        Kind of race (``RaceKind``).
    filter, owner_filter : int
        Lock filters of the access and of the entry.
    scope, strong : int
        Scope (atomics) and strength of the access.
    device_race : int
        1 if the parties are of different blocks (a device-scope race), else 0.  With 1 and the same
        BlockID for both, the earlier party is from an earlier block of that slot.
    owner_strong, owner_scope, owner_is_atom, owner_dev_shared, owner_blk_shared, owner_modified
        Flags of the entry (int).
    bank : int
        Detector bank.
    """

    layout: ClassVar[Layout] = ScordParams().report_layout
    kinds: ClassVar[type[RaceKind]] = RaceKind

    address: int
    pc: int
    sequence: int
    block: int
    warp: int
    kind: int
    owner_block: int
    owner_warp: int
    race: int
    filter: int
    owner_filter: int
    scope: int
    strong: int
    device_race: int
    owner_strong: int
    owner_scope: int
    owner_is_atom: int
    owner_dev_shared: int
    owner_blk_shared: int
    owner_modified: int
    bank: int

    @classmethod
    def from_step(
        cls, params: ScordParams, step: Step, bank: int = 0, sequence: int = 0
    ) -> RaceReport:
        """Report of a step that found a race."""
        packet, entry = step.packet, unpack_entry(params, step.before)
        access, owner = ((each["block"], each["generation"]) for each in (packet._asdict(), entry))
        return cls(
            packet.word * WORD_BYTES, packet.pc, sequence, packet.block, packet.warp, packet.kind,
            owner_block=entry["block"], owner_warp=entry["warp"], race=step.race,
            filter=packet.filter, owner_filter=entry["filter"], scope=packet.scope,
            strong=packet.strong, device_race=int(access != owner), owner_strong=entry["strong"],
            owner_scope=entry["scope"], owner_is_atom=entry["is_atom"],
            owner_dev_shared=entry["dev_shared"], owner_blk_shared=entry["blk_shared"],
            owner_modified=entry["modified"], bank=bank,
        )  # fmt: skip

    @property
    def table_iv(self) -> str:
        """Letter of the condition in the paper's Table IV."""
        table = LOAD_TABLE if self.kind == PacketKind.LOAD else STORE_TABLE
        conditions = (rule.condition for rule in table)
        return next(each.letter for each in conditions if each.race == self.race)

    @property
    def race_scope(self) -> Scope:
        """Scope of the race: within a block, or between blocks of the device."""
        return Scope(self.device_race)

    @property
    def rule(self) -> tuple[str, str]:
        """Condition of the paper that decided."""
        return "Table IV", self.table_iv

    @property
    def space(self) -> str:
        """Memory of the word."""
        return "global"

    @property
    def reason(self) -> str:
        """Why the two accesses race, as a clause."""
        return _REASONS[RaceKind(self.race)]

    def sentence(self) -> str:
        """The race in one sentence."""
        access = PacketKind(self.kind).name.lower()
        if self.kind == PacketKind.ATOMIC:
            access = f"{Scope(self.scope).name.lower()}-scope {access}"
        elif not self.strong:
            access = f"weak {access}"
        earlier = "atomic" if self.owner_is_atom else "write" if self.owner_modified else "read"
        where = "other blocks" if self.owner_dev_shared else "other warps of its block"
        shared = f", also read by {where}" if self.owner_dev_shared or self.owner_blk_shared else ""
        is_reused = self.device_race and self.owner_block == self.block
        owner = "an earlier block of its slot," if is_reused else f"block {self.owner_block}"
        return (
            f"{self.kind_words} ({self.race_scope.name.lower()} scope): "
            f"{access} of {self.address:#x} at pc {self.pc:#x} "
            f"by block {self.block} warp {self.warp} "
            f"races with the {earlier} by {owner} warp {self.owner_warp}{shared}: "
            f"{self.reason}."
        )
