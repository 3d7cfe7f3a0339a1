"""Registers of SigRace's Race Detection Module, from their SystemRDL description.

Ref: SigRace (ISCA'09) Sections 3.2, 3.3.1 and 4.3.1.
"""

from __future__ import annotations

from pathlib import Path

from systemrdl.node import AddrmapNode

from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.rtl.common.register_description import compile_description, identity_values

#: The register description.
RDL_FILE = Path(__file__).with_name("sigrace.rdl")


def register_parameters(params: SigraceParams) -> dict[str, int]:
    """Parameters of the description for an instance."""
    # Each scanner may have one of an event in a cycle.
    return {"HAS_PROTECTION": params.protection, "INCREMENT_BITS": params.scanners.bit_length()}


def compile_registers(params: SigraceParams) -> AddrmapNode:
    """The elaborated address map of ``sigrace.rdl`` for an instance."""
    return compile_description(RDL_FILE, **register_parameters(params))


def supplied_constants(params: SigraceParams) -> dict[str, dict[str, int]]:
    """Values of the VERSION and PARAMS registers, as register -> field -> value."""
    return identity_values(compile_registers(params), params, is_hashed=params.form is Form.HASHED)
