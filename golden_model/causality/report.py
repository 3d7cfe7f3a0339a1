"""Race reports: what software finds in the ring buffer.

Ref: ScoRD (ISCA'20) Section IV-C, Section VI.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from racetrap.golden_model.barracuda.race import Missing
from racetrap.golden_model.causality.learning import Race
from racetrap.golden_model.causality.packets import Against, PacketKind, RaceKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.events import Scope
from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.golden_model.gpu.report import RingReport, words_of
from racetrap.golden_model.layout import Layout


def race_words(race: int) -> str:
    """Name of a race kind for people and files, such as ``missing-release``."""
    words = words_of(RaceKind(race))
    return words if race == RaceKind.UNEQUAL_STORE else f"missing-{words}"


@dataclass(frozen=True, slots=True)
class RaceReport(RingReport):
    """One race, with both parties.

    Parameters
    ----------
    address : int
        Byte address of the word; in shared memory it counts from the block's first byte.
    pc : int
        Program counter of the later access.
    sequence : int
        Number of the race since reset.
    block, warp, lane, kind, strong, device : int
        BlockID, warp slot, highest lane (of a warp that races with itself another than the earlier
        access's), kind (``PacketKind``), and whether strong and of device scope, of that access.
    race : int
        What is missing (``RaceKind``).
    owner_block, owner_warp, owner_lane, owner_kind, owner_strong, owner_device : int
        The same of the earlier access; of a read and a write that both race, of the write.
    shared : int
        Whether the word is in shared memory.
    late : int
        Whether it was decided after the access, when it could no longer be a flag's.
    against : int
        Which earlier accesses race (``Against``).
    bank : int
        Detector bank.
    """

    layout: ClassVar[Layout] = CausalityParams().report_layout
    kinds: ClassVar[type[RaceKind]] = RaceKind

    address: int
    pc: int
    sequence: int
    block: int
    warp: int
    lane: int
    kind: int
    race: int
    owner_block: int
    owner_warp: int
    owner_lane: int
    owner_kind: int
    owner_strong: int
    owner_device: int
    strong: int
    device: int
    shared: int
    late: int
    against: int
    bank: int

    @classmethod
    def from_race(
        cls, params: CausalityParams, race: Race, bank: int = 0, sequence: int = 0
    ) -> RaceReport:
        """Report of a race that the collector has found."""
        packet, before, against = race.step.packet, race.step.before, race.against
        is_read = against == Against.READER
        side = before.reader if is_read else before.writer
        known = packet._asdict() | {
            "race": race.kind, "against": against, "late": race.late, "lane": packet.lane,
            "owner_block": 0, "owner_warp": 0, "owner_lane": 0, "owner_kind": 0,
            "owner_strong": 0, "owner_device": 0,
            "address": packet.word * WORD_BYTES, "bank": bank, "sequence": sequence,
        }  # fmt: skip
        warps = (1 << params.warp_bits) - 1
        known["warp"] = packet.warp & warps
        if side is not None and against:
            kind = PacketKind.ATOMIC if side.atomic else PacketKind(not is_read)
            if side.warp == packet.warp and packet.lanes != 1 << packet.lane:
                # A lane comes behind itself: another one races.
                known["lane"] = (packet.lanes & ~(1 << side.lane)).bit_length() - 1
            known |= {
                "owner_block": side.block, "owner_warp": side.warp & warps,
                "owner_lane": side.lane, "owner_kind": kind, "owner_strong": side.strong,
                "owner_device": side.device,
            }  # fmt: skip
        return cls(**{name: int(known[name]) for name in cls.__slots__})

    @property
    def kind_words(self) -> str:
        """Kind of race for people and files."""
        return race_words(self.race)

    @property
    def rule(self) -> tuple[str, str]:
        """What is missing."""
        return "missing", words_of(RaceKind(self.race))

    @property
    def space(self) -> str:
        """Memory of the word."""
        return "shared" if self.shared else "global"

    @property
    def race_scope(self) -> Scope:
        """Whether the race is one inside a block or one between blocks of the device."""
        return Scope(self.race != RaceKind.UNEQUAL_STORE and self.owner_block != self.block)

    @property
    def reason(self) -> str:
        """Why the two accesses race, as a clause."""
        return Missing(words_of(RaceKind(self.race))).reason

    def sentence(self) -> str:
        """The race in one sentence."""
        access = _words(self.kind, self.strong, self.device)
        place = f"{self.space} {self.address:#x} at pc {self.pc:#x}"
        thread = f"block {self.block} warp {self.warp} lane {self.lane}"
        if self.race == RaceKind.UNEQUAL_STORE:
            return f"{self.kind_words}: {access} of {place} by {thread}: {self.reason}."
        owner = _words(self.owner_kind, self.owner_strong, self.owner_device)
        return (
            f"{self.kind_words} ({self.race_scope.name.lower()} scope): {access} of {place} by "
            f"{thread} races with the {owner} by block {self.owner_block} "
            f"warp {self.owner_warp} lane {self.owner_lane}: {self.reason}."
        )


def _words(kind: int, strong: int, device: int) -> str:
    name = PacketKind(kind).name.lower()
    if not strong:
        return f"weak {name}"
    return f"{Scope(device).name.lower()}-scope {name}"
