"""ScoRD for the generator.

Ref: ScoRD (ISCA'20) Section IV-C.
"""

from __future__ import annotations

from racetrap.generators.system import System
from racetrap.golden_model.layout import Layout
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.state import state_bits
from racetrap.rtl.scord.registers import RDL_FILE, compile_registers
from racetrap.rtl.scord.system import ScordSystem

__all__ = ["SCORD"]

#: The first three kinds are the method's own, the others explain what the hardware has on top.
_STATE_KINDS = {
    "lock_tables": r"\.tracker_\d+\.lock_tables",
    "barrier_ids": r"\.tracker_\d+\.barrier_ids",
    "fence_files": r"\.bank_\d+\..*fence_file",
    "tracker_pipelines": r"\.(tracker|gate)_\d+",
    "interleaver": r"\.interleaver",
    "packet_fifos": r"\.bank_\d+\.(fifo|decoder|located)",
    "report_fifos": r"\.bank_\d+\.reports",
    "metadata_windows": r"\.bank_\d+\.accessor",
    "check_pipelines": r"\.bank_\d+",
    "local_memory": r"\.local_memory_\d+",
    "report_path": r"\.report_path",
    "registers": r"\.(registers|launch_control)|^top$",
}


def _layouts(params: ScordParams) -> dict[str, Layout]:
    return {
        "transaction": params.transaction_layout,
        "packet": params.packet_layout,
        "step": params.step_layout,
        "report": params.report_layout,
        "entry": params.entry_layout,
    }


def _trace_ports(params: ScordParams) -> dict[str, list[str]]:
    banks = params.banks if params.trace_port else 0
    return {"step": [f"trace__{bank}" for bank in range(banks)]}


SCORD = System(
    name="scord",
    params=ScordParams,
    top=ScordSystem,
    parts={},
    layouts=_layouts,
    trace_ports=_trace_ports,
    registers=compile_registers,
    register_source=RDL_FILE,
    state_kinds=_STATE_KINDS,
    method_bits=state_bits,
)
