"""Registers of the ScoRD system, from its SystemRDL description.

Ref: ScoRD (ISCA'20) Section IV (host side: allocation of metadata and report buffer).
"""

from __future__ import annotations

from functools import cache
from importlib import metadata
from pathlib import Path

from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode

from racetrap.golden_model.scord.params import ScordParams

__all__ = ["RDL_FILE", "REGISTER_ADDRESS_BITS", "compile_registers", "supplied_constants"]

#: The register description.
RDL_FILE = Path(__file__).with_name("scord.rdl")
#: Bits of a register's byte address: a space of 4 KiB.
REGISTER_ADDRESS_BITS = 12


@cache
def compile_registers() -> AddrmapNode:
    """The elaborated address map of ``scord.rdl``."""
    compiler = RDLCompiler()
    compiler.compile_file(str(RDL_FILE))
    return compiler.elaborate().top


def supplied_constants(params: ScordParams) -> dict[str, dict[str, int]]:
    """Values of the VERSION and PARAMS registers, as register -> field -> value."""
    major, minor, patch = (int(part) for part in metadata.version("racetrap").split(".")[:3])
    return {
        "version": {"major": major, "minor": minor, "patch": patch},
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
