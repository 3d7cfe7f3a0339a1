"""Registers of the ScoRD system, from its SystemRDL description.

Ref: ScoRD (ISCA'20) Section IV (host side: allocation of metadata and report buffer).
"""

from __future__ import annotations

from pathlib import Path

from systemrdl.node import AddrmapNode

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.registers import compile_description, version_fields

__all__ = ["RDL_FILE", "REGISTER_ADDRESS_BITS", "compile_registers", "supplied_constants"]

#: The register description.
RDL_FILE = Path(__file__).with_name("scord.rdl")
#: Bits of a register's byte address: a space of 4 KiB.
REGISTER_ADDRESS_BITS = 12


def compile_registers() -> AddrmapNode:
    """The elaborated address map of ``scord.rdl``."""
    return compile_description(RDL_FILE)


def supplied_constants(params: ScordParams) -> dict[str, dict[str, int]]:
    """Values of the VERSION and PARAMS registers, as register -> field -> value."""
    return {
        "version": version_fields(),
        "params_geometry": {
            name: getattr(params, name)
            for name in ("sm_count", "blocks_per_sm", "warps_per_sm", "banks")
        },
        "params_metadata": {
            name: getattr(params, name) for name in ("granularity", "ratio", "lock_table_depth")
        },
        "params_widths": {
            name: getattr(params, name)
            for name in ("fence_id_bits", "barrier_id_bits", "address_bits", "pc_bits")
        },
        "params_buffers": {
            "outstanding": params.outstanding,
            "report_fifo_depth": params.report_fifo_depth,
        },
        "params_options": {
            "trace_port": int(params.trace_port),
            "local_metadata": int(params.local_bytes > 0),
        },
    }
