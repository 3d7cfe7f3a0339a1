"""Scoreboard component of ScoRD: its coverage, and the read of each step."""

from __future__ import annotations

from racetrap.golden_model.gpu.params import WORD_BYTES
from racetrap.golden_model.scord.interleaver import banks_of
from racetrap.golden_model.scord.packets import (
    LockState,
    Packet,
    PacketKind,
    Step,
    TableRow,
    Transaction,
)
from racetrap.sim.cosim.scord.coverage import Coverage
from racetrap.sim.cosim.scord.scoreboard import Scoreboard
from racetrap.tb.gpu.scoreboard import GpuScoreboard


class ScoreboardComponent(GpuScoreboard):
    """Compares one kernel launch after the other with ScoRD's golden model."""

    coverage_class, comparison_class = Coverage, Scoreboard

    def entry_of(self, step: Step) -> int | None:
        packet = step.packet
        if packet.kind == PacketKind.FENCE or step.row == TableRow.UNMONITORED:
            return None
        return self._region.locate(self._params, packet.word * WORD_BYTES)[0]

    def transaction(
        self,
        sm: int,
        transaction: Transaction,
        before: list[tuple[int, LockState]],
        after: list[tuple[int, LockState]],
        packets: list[Packet],
    ) -> None:
        self.due += sum(len(banks_of(self._params, packet)) for packet in packets)
        self.coverage.transaction(sm, transaction, before, after, packets)

    def left_out(self, transaction: Transaction) -> None:
        self.coverage.left_out(transaction)
