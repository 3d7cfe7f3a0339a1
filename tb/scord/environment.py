"""Environment of ScoRD: that of GPU detectors, with trace ports of fences and access buffers."""

from __future__ import annotations

from collections.abc import Callable

from racetrap.golden_model.scord.packets import Packet, Step, Transaction
from racetrap.golden_model.scord.scord import Scord
from racetrap.tb.gpu.environment import GpuEnvironment
from racetrap.tb.scord.scoreboard import ScoreboardComponent


class ScordEnvironment(GpuEnvironment):
    """Testbench around one ``ScordSystem`` with a trace port."""

    model_class, scoreboard_class = Scord, ScoreboardComponent
    transaction_type, step_type, packet_type = Transaction, Step, Packet

    def build_phase(self) -> None:
        super().build_phase()
        params = self._testbench.params
        others = params.fence_lanes - 1
        self.traces += [
            self.trace(f"trace_fences__{lane}", lane // others)
            for lane in range(params.banks * others)
        ]
        self._left_out = [self._left_out_reader(sm) for sm in range(params.sm_count)]

    def _left_out_reader(self, sm: int) -> Callable[[], int] | None:
        """Reader of an SM's pin for skipped transactions, if there is one."""
        testbench = self._testbench
        return testbench.pins.reader(f"o_left_out__{sm}") if testbench.params.leaves_out else None

    def transaction(self, sm: int, *values: int) -> tuple[int, Transaction, bool | None]:
        left_out = self._left_out[sm]
        return sm, Transaction(*values), None if left_out is None else bool(left_out())
