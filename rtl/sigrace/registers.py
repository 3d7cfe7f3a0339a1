"""Registers of SigRace's Race Detection Module, from its SystemRDL description.

Ref: SigRace (ISCA'09) Sections 3.2, 3.3.1 and 4.3.1.
"""

from __future__ import annotations

from pathlib import Path

from systemrdl.node import AddrmapNode

from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.rtl.common.registers import compile_description, version_fields

__all__ = ["RDL_FILE", "REGISTER_ADDRESS_BITS", "compile_registers", "supplied_constants"]

#: The register description.
RDL_FILE = Path(__file__).with_name("sigrace.rdl")
#: Bits of a register's byte address: a space of 4 KiB.
REGISTER_ADDRESS_BITS = 12


def compile_registers() -> AddrmapNode:
    """The elaborated address map of ``sigrace.rdl``."""
    return compile_description(RDL_FILE)


def supplied_constants(params: SigraceParams) -> dict[str, dict[str, int]]:
    """Values of the VERSION and PARAMS registers, as register -> field -> value."""

    def of_params(*names: str) -> dict[str, int]:
        return {name: int(getattr(params, name)) for name in names}

    return {
        "version": version_fields(),
        "params_geometry": of_params("cores", "contexts", "threads", "history_depth"),
        "params_signature": {
            **of_params("lsb_bits", "filters", "filter_bits", "one_hot_lsb"),
            "is_hashed": int(params.form is Form.HASHED),
        },
        "params_block": of_params("block_instructions"),
        "params_widths": of_params("timestamp_bits", "sequence_bits", "pc_bits", "log_depth"),
    }
