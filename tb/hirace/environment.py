"""Environment of HiRace: what GPU detectors share, with its own streams and scoreboard."""

from __future__ import annotations

from racetrap.golden_model.hirace.packets import Packet, Step, Transaction
from racetrap.tb.gpu.environment import GpuEnvironment
from racetrap.tb.hirace.scoreboard import ScoreboardComponent

__all__ = ["HiraceEnvironment"]


class HiraceEnvironment(GpuEnvironment):
    """Testbench around one ``HiraceSystem`` with a trace port."""

    scoreboard_class = ScoreboardComponent
    transaction_type, step_type, packet_type = Transaction, Step, Packet
