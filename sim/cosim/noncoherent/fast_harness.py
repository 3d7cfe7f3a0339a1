"""The bus monitor's part of the fast co-simulation."""

from __future__ import annotations

from pathlib import Path

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.sim.cosim.fast.harness import Harness
from racetrap.sim.cosim.fast.memory_timing import AXI_TWINS, MemoryTiming
from racetrap.sim.cosim.fast.ports import AXI_WRITE, LITE, PortGroup, words_of_bits
from racetrap.sim.cosim.fast.simulation import simulation_twins
from racetrap.sim.cosim.noncoherent.fast_simulation import BUS_TWINS, SimStats

#: Signals of the observed bus.
_BUS_SIGNALS = (
    *(
        f"{channel}{name}" for channel in ("ar", "aw")
        for name in ("id", "addr", "len", "size", "burst", "valid", "ready")
    ),
    "rid", "rlast", "rvalid", "rready", "bid", "bvalid", "bready",
)  # fmt: skip


def _ports(params: NoncoherentParams) -> list[PortGroup]:
    return [
        PortGroup("OperationPort", "operation", "i_operation__", ("valid", "ready", "payload")),
        PortGroup("TracePort", "trace", "trace__", ("valid", "payload")),
        PortGroup("ReportPort", "report", "m_axi_report__", AXI_WRITE),
        PortGroup(
            "BusPort", "buses", "i_axi__", _BUS_SIGNALS, int(params.observes_bus)
        ),
        LITE,
    ]  # fmt: skip


def _constants(params: NoncoherentParams) -> dict[str, int]:
    return {
        "BUSES": int(params.observes_bus),
        "OPERATION_WORDS": words_of_bits(params.operation_layout.width),
        "STEP_WORDS": words_of_bits(params.step_layout.width),
    }


HARNESS = Harness(
    Path(__file__).parent, _ports, _constants, scripts=("fast_harness.py",),
    twins=(*simulation_twins(MemoryTiming, SimStats), *AXI_TWINS, *BUS_TWINS),
)  # fmt: skip
