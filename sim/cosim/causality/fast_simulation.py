"""Fast simulation of a causality system, launch by launch."""

from __future__ import annotations

from heapq import merge
from typing import Any, NamedTuple

from racetrap.golden_model.causality.detector_bank import Step
from racetrap.golden_model.causality.packets import Packet, Transaction, TransactionKind
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.fast.packing import unpack_records
from racetrap.sim.cosim.gpu.gpu_simulation import GpuSimulation


class Seen(NamedTuple):
    """Something on a trace port.

    Parameters
    ----------
    cycle : int
        Cycle after which it is to be compared.
    order : int
        0 of a bank's step, which comes before what the collector takes in the same cycle.
    bank : int
        Bank of a step.
    step : Step or None
        Step of a bank.
    kind, source : int
        What the collector tells.
    """

    cycle: int
    order: int
    bank: int = 0
    step: Any = None
    kind: int = 0
    source: int = 0


class FastSim(GpuSimulation):
    """A causality system after reset, with memories behind its ports."""

    step_type, packet_type = Step, Packet

    def may_come_first(self, transaction: Transaction) -> bool:
        """Whether it needs no block of which the collector knows."""
        return transaction.kind <= TransactionKind.FENCE

    def told(self) -> list[Seen]:
        """What the collector has told in the last run, in its order."""
        params: Any = self._params
        assert isinstance(params, CausalityParams)
        number = params.banks + params.sm_count + params.metadata_ports
        layout = params.collector_event_layout
        columns = unpack_records(layout, self._trace(number, layout))
        return [
            Seen(cycle, 1, 0, None, kind, source)
            for cycle, kind, source in zip(self._trace_cycles(number), *columns, strict=True)
        ]

    def seen(self) -> list[Seen]:
        """All steps of the last run and what the collector told, in the order of their cycles."""
        steps = (
            [Seen(cycle, 0, bank, step) for cycle, step in zip(
                self.step_cycles(bank), self.steps(bank), strict=True
            )]
            for bank in range(self._params.banks)
        )  # fmt: skip
        return list(merge(*steps, self.told(), key=lambda seen: (seen.cycle, seen.order)))
