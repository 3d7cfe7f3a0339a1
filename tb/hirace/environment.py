"""Environment of HiRace: that of GPU detectors, with its own streams and scoreboard."""

from __future__ import annotations

from racetrap.golden_model.hirace.hirace import Hirace
from racetrap.golden_model.hirace.packets import Packet, Step, Transaction
from racetrap.tb.gpu.environment import GpuEnvironment
from racetrap.tb.hirace.scoreboard import ScoreboardComponent


class HiraceEnvironment(GpuEnvironment):
    """Testbench around one ``HiraceSystem`` with a trace port."""

    model_class, scoreboard_class = Hirace, ScoreboardComponent
    transaction_type, step_type, packet_type = Transaction, Step, Packet
