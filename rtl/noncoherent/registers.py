"""Registers of the bus monitor, from their SystemRDL description.

Ref: Young (UBC 2020) Section 5.1 (what is reported).
"""

from __future__ import annotations

from pathlib import Path

from systemrdl.node import AddrmapNode

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.register_description import compile_description, identity_values

#: The register description.
RDL_FILE = Path(__file__).with_name("noncoherent.rdl")


def register_parameters(params: NoncoherentParams) -> dict[str, int]:
    """Parameters of the description for an instance."""
    return {"WRITE_THROUGH": params.write_through, "HAS_PROTECTION": params.protection}


def compile_registers(params: NoncoherentParams) -> AddrmapNode:
    """The elaborated address map of ``noncoherent.rdl`` for an instance."""
    return compile_description(RDL_FILE, **register_parameters(params))


def supplied_constants(params: NoncoherentParams) -> dict[str, dict[str, int]]:
    """Values of the VERSION and PARAMS registers, as register -> field -> value."""
    return identity_values(compile_registers(params), params, is_strict=params.is_strict)
