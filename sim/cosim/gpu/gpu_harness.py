"""Common part of the fast co-simulations of GPU detectors: the shim, its ports and constants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.layout import Layout
from racetrap.sim.cosim.fast.harness import Harness, folded
from racetrap.sim.cosim.fast.memory_timing import AXI_TWINS, MemoryTiming
from racetrap.sim.cosim.fast.ports import AXI_WRITE, LITE, Internals, PortGroup, words_of_bits
from racetrap.sim.cosim.fast.simulation import simulation_twins
from racetrap.sim.cosim.gpu.gpu_launches import SimStats, entry_words
from racetrap.sim.cosim.gpu.sweep import BEGUN, ENGINE, INDEX, index_width
from racetrap.sim.gpu.timing.detector_ports import PORT_TWINS

_READ = (
    "arid", "araddr", "arlen", "arsize", "arburst", "arlock", "arcache", "arprot", "arvalid",
    "arready", "rid", "rdata", "rresp", "rlast", "rvalid", "rready",
)  # fmt: skip
_STREAM = ("valid", "ready", "payload")


def _metadata_ports(params: GpuParams) -> int:
    return 0 if params.local_bytes else params.metadata_ports


def _internals(params: GpuParams) -> list[Internals]:
    registers = {"index": (INDEX, index_width(params)), "begun": (BEGUN, 1)}
    return [
        Internals("Engine", "engine", ENGINE, registers, _metadata_ports(params)),
        Internals("Head", "head", "report_path.writer", {"value": ("o_head", 32)}, 1),
        Internals("Status", "status", "registers", {"idle": ("status__idle", 1)}, 1),
    ]


@dataclass(frozen=True)
class CollectorPort:
    """What the trace port of a collector tells.

    Parameters
    ----------
    layout : Layout
        Its payload, whose first field is a kind.
    done : int
        The kind that says that a transaction which is no access has been settled.
    """

    layout: Layout
    done: int


def _told_constants(told: CollectorPort | None) -> dict[str, int]:
    if told is None:
        return {"COLLECTORS": 0, "TOLD_WORDS": 1, "TOLD_KINDS": 0, "TOLD_DONE": 0}
    kinds = (1 << next(width for _, _, width in told.layout.flat())) - 1
    words = words_of_bits(told.layout.width)
    return {"COLLECTORS": 1, "TOLD_WORDS": words, "TOLD_KINDS": kinds, "TOLD_DONE": told.done}


def gpu_harness(
    *scripts: Path,
    leaving_out: Callable[[Any], int] = lambda params: 0,
    other_lanes: Callable[[Any], int] = lambda params: 0,
    told: Callable[[Any], CollectorPort | None] = lambda params: None,
    fencing: Callable[[Any], int] = lambda params: 0,
    rewrite: Callable[[str, Any], str] = folded,
) -> Harness:
    """A GPU detector's part of the fast co-simulation.

    Parameters
    ----------
    *scripts : Path
        Modules of the detector that define it.
    leaving_out : callable
        From parameters to the number of SMs with a port for skipped accesses.
    other_lanes : callable
        From parameters to the further trace ports of each bank.
    told : callable
        From parameters to what the trace port of a collector tells; None: there is none.
    fencing : callable
        From parameters to the number of SMs that are shown their warps with a fence in flight.
    rewrite : callable
        As of ``Harness``.
    """

    def ports(params: Any) -> list[PortGroup]:
        sms, banks, trace = params.sm_count, params.banks, ("valid", "payload")
        others, metadata = banks * other_lanes(params), "m_axi_metadata__{}__"
        collectors = int(told(params) is not None)
        return [
            PortGroup("TransactionPort", "transaction", "i_transaction__{}__", _STREAM, sms),
            PortGroup("LeftOutPort", "left_out", "o_left_out__{}", (), leaving_out(params)),
            PortGroup("FencingPort", "fencing", "o_fencing__{}", (), fencing(params)),
            PortGroup("TracePort", "trace", "trace__{}__", trace, banks),
            PortGroup("FencePort", "fences", "trace_fences__{}__", trace, others),
            PortGroup(
                "MetadataPort", "metadata", metadata, AXI_WRITE + _READ, _metadata_ports(params)
            ),
            PortGroup("CollectorPort", "collector", "trace_collector__", trace, collectors),
            PortGroup("ReportPort", "report", "m_axi_report__", AXI_WRITE),
            PortGroup("InterruptPort", "interrupt", "irq", (), 1),
            LITE,
        ]

    def constants(params: Any) -> dict[str, int]:
        return {
            "SMS": params.sm_count,
            "LEAVING_OUT": leaving_out(params),
            "FENCING": fencing(params),
            "FENCING_WORDS": words_of_bits(params.warps_per_sm),
            "BANKS": params.banks,
            "OTHER_LANES": other_lanes(params),
            "METADATA_PORTS": _metadata_ports(params),
            "PORT_BITS": params.port_bits,
            "ODD_PORTS": params.odd_ports,
            "RESIDUE_BITS": params.residue_bits,
            "REGIONS": params.regions,
            "ENTRY_WORDS": entry_words(params),
            "SEGMENT_WORDS": params.words_per_cycle * entry_words(params),
            "TRANSACTION_WORDS": words_of_bits(params.transaction_layout.width),
            "STEP_WORDS": words_of_bits(params.step_layout.width),
            **_told_constants(told(params)),
        }

    own = ("gpu_harness.py", "sweep.py", *map(str, scripts))
    twins = (*simulation_twins(MemoryTiming, SimStats), *AXI_TWINS, *PORT_TWINS)
    return Harness(
        Path(__file__).parent, ports, constants, own, twins, _internals, counters="registers",
        rewrite=rewrite,
    )  # fmt: skip
