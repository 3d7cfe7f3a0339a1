"""ScoRD's part of the fast co-simulation."""

from __future__ import annotations

from pathlib import Path

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.fast.folding import fold_registers
from racetrap.sim.cosim.fast.harness import Harness
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.ports import AXI_WRITE, LITE, Internals, PortGroup, words_of_bits
from racetrap.sim.cosim.fast.simulation import simulation_twins
from racetrap.sim.cosim.scord.fast_simulation import SimStats
from racetrap.sim.cosim.scord.sweep import BEGUN, ENGINE, INDEX, index_width
from racetrap.sim.cosim.scord.tracker_clocks import gate_trackers

__all__ = ["HARNESS"]

_READ = (
    "arid", "araddr", "arlen", "arsize", "arvalid", "arready", "rid", "rdata", "rresp", "rlast",
    "rvalid", "rready",
)  # fmt: skip
_STREAM = ("valid", "ready", "payload")


def _metadata_ports(params: ScordParams) -> int:
    return 0 if params.local_bytes else params.metadata_ports


def _leaving_out(params: ScordParams) -> int:
    return params.sm_count if params.leaves_out else 0


def _ports(params: ScordParams) -> list[PortGroup]:
    metadata = _metadata_ports(params)
    return [
        PortGroup(
            "TransactionPort", "transaction", "i_transaction__{}__", _STREAM, params.sm_count
        ),
        PortGroup("LeftOutPort", "left_out", "o_left_out__{}", (), _leaving_out(params)),
        PortGroup("TracePort", "trace", "trace__{}__", ("valid", "payload"), params.banks),
        PortGroup(
            "FencePort",
            "fences",
            "trace_fences__{}__",
            ("valid", "payload"),
            params.banks * (params.fence_lanes - 1),
        ),
        PortGroup("MetadataPort", "metadata", "m_axi_metadata__{}__", AXI_WRITE + _READ, metadata),
        PortGroup("ReportPort", "report", "m_axi_report__", AXI_WRITE),
        LITE,
    ]


def _internals(params: ScordParams) -> list[Internals]:
    registers = {"index": (INDEX, index_width(params)), "begun": (BEGUN, 1)}
    return [Internals("Engine", "engine", ENGINE, registers, _metadata_ports(params))]


def _constants(params: ScordParams) -> dict[str, int]:
    return {
        "SMS": params.sm_count,
        "LEAVING_OUT": _leaving_out(params),
        "BANKS": params.banks,
        "OTHER_LANES": params.fence_lanes - 1,
        "METADATA_PORTS": _metadata_ports(params),
        "SEGMENT_WORDS": params.words_per_cycle,
        "TRANSACTION_WORDS": words_of_bits(params.transaction_layout.width),
        "STEP_WORDS": words_of_bits(params.step_layout.width),
    }


def _rewrite(verilog: str, params: ScordParams) -> str:
    return gate_trackers(fold_registers(verilog), params.sm_count)


HARNESS = Harness(
    Path(__file__).parent, _ports, _constants, _rewrite,
    ("fast_harness.py", "sweep.py", "tracker_clocks.py"),
    simulation_twins(MemoryTiming, SimStats), _internals,
)  # fmt: skip
