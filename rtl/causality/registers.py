"""Registers of the causality system, from their SystemRDL description.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from pathlib import Path

from systemrdl.node import AddrmapNode

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.common.register_description import compile_description, identity_values

#: The register description.
RDL_FILE = Path(__file__).with_name("causality.rdl")


def register_parameters(params: CausalityParams) -> dict[str, int]:
    """Parameters of the description for an instance."""
    # At most all banks count an access; two places may drop a report.
    return {
        "INCREMENT_BITS": max(params.banks, 2).bit_length(), "HAS_PROTECTION": params.protection,
    }  # fmt: skip


def compile_registers(params: CausalityParams) -> AddrmapNode:
    """The elaborated address map of ``causality.rdl`` for an instance."""
    return compile_description(RDL_FILE, **register_parameters(params))


def supplied_constants(params: CausalityParams) -> dict[str, dict[str, int]]:
    """Values of the VERSION and PARAMS registers, as register -> field -> value."""
    return identity_values(compile_registers(params), params)
