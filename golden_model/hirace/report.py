"""Race reports, as software reads them from the ring buffer.

Ref: HiRace (SC'24): a race is a transition into the state RACE.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from racetrap.golden_model.events import Scope
from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.golden_model.gpu.report import RingReport, words_of
from racetrap.golden_model.hirace.packets import PacketKind, RaceKind, Step
from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.golden_model.hirace.states import Relation, State
from racetrap.golden_model.layout import Layout

_REASONS = {
    RaceKind.READ_AFTER_WRITE: "no barrier that both pass lies between the write and the read",
    RaceKind.WRITE_AFTER_READ: "no barrier that both pass lies between the read and the write",
    RaceKind.WRITE_AFTER_WRITE: "no barrier that both pass lies between the writes",
    RaceKind.PLAIN_AFTER_ATOMIC: "one is atomic, the other is not, and no barrier orders them",
    RaceKind.ATOMIC_AFTER_PLAIN: "one is atomic, the other is not, and no barrier orders them",
    RaceKind.SCOPED_ATOMIC: "they are atomics, but not both of the scope that the two share",
}


def race_words(race: int) -> str:
    """Name of a race kind for people and files, such as ``write-after-read``."""
    return words_of(RaceKind(race))


@dataclass(frozen=True, slots=True)
class RaceReport(RingReport):
    """One race, with both parties.

    Parameters
    ----------
    address : int
        Byte address of the word; in shared memory it counts from the block's first byte.
    pc : int
        Program counter of the access that found the race.
    sequence : int
        Number of the race since reset.
    block, warp, lane, kind : int
        BlockID, warp slot, lane and kind (``PacketKind``) of that access.
    race : int
        Kind of race (``RaceKind``).
    owner_block, owner_warp, owner_lane : int
        BlockID, warp slot and lane of the previous access.
    state : int
        State of the word before (``State``).
    scope, shared : int
        Scope of an atomic, and whether the word is in shared memory.
    relation, sync : int
        Unit that the two threads share, and the widest barrier before the access.
    bank : int
        Detector bank.
    """

    layout: ClassVar[Layout] = HiraceParams().report_layout
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
    state: int
    scope: int
    shared: int
    relation: int
    sync: int
    bank: int

    @classmethod
    def from_step(
        cls, params: HiraceParams, step: Step, bank: int = 0, sequence: int = 0
    ) -> RaceReport:
        """Report of a step that found a race."""
        packet, entry = step.packet, params.entry_layout.unpack(step.before)
        return cls(
            packet.word * WORD_BYTES, packet.pc, sequence, packet.block, packet.warp, packet.lane,
            packet.kind, step.race, owner_block=entry["block"], owner_warp=entry["warp"],
            owner_lane=entry["lane"], state=entry["state"], scope=packet.scope,
            shared=packet.shared, relation=step.relation, sync=step.sync, bank=bank,
        )  # fmt: skip

    @property
    def rule(self) -> tuple[str, str]:
        """Previous state of the word, which decided."""
        return "state", State(self.state).name

    @property
    def space(self) -> str:
        """Memory of the word."""
        return "shared" if self.shared else "global"

    @property
    def race_scope(self) -> Scope:
        """Scope of the race: within a block, or between blocks of the device."""
        return Scope(self.relation == Relation.SAME_GRID)

    @property
    def reason(self) -> str:
        """Why the two accesses race, as a clause."""
        return _REASONS[RaceKind(self.race)]

    def sentence(self) -> str:
        """The race in one sentence."""
        access = PacketKind(self.kind).name.lower()
        if self.kind == PacketKind.ATOMIC:
            access = f"{Scope(self.scope).name.lower()}-scope {access}"
        return (
            f"{self.kind_words} ({self.race_scope.name.lower()} scope): "
            f"{access} of {self.space} {self.address:#x} at pc {self.pc:#x} by block {self.block} "
            f"warp {self.warp} lane {self.lane} races with the access by block {self.owner_block} "
            f"warp {self.owner_warp} lane {self.owner_lane} (state {State(self.state).name}): "
            f"{self.reason}."
        )
