"""Environment of causality: that of GPU detectors, and the trace port of the collector."""

from __future__ import annotations

from racetrap.golden_model.causality.causality import Causality
from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.packets import Packet, Transaction
from racetrap.tb.causality.scoreboard import ScoreboardComponent
from racetrap.tb.gpu.environment import GpuEnvironment
from racetrap.tb.stream_agent import StreamMonitor


class CausalityEnvironment(GpuEnvironment):
    """Testbench around one ``CausalitySystem`` with a trace port."""

    model_class, scoreboard_class = Causality, ScoreboardComponent
    transaction_type, step_type, packet_type = Transaction, Step, Packet

    def build_phase(self) -> None:
        super().build_phase()
        layout = self._testbench.params.collector_event_layout
        self._told = StreamMonitor(
            "monitor_told", self, "trace_collector", layout, lambda *told: told
        )

    def connect_phase(self) -> None:
        super().connect_phase()
        self._told.connect(self.scoreboard.told)
