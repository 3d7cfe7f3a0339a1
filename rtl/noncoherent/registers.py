"""Registers of the bus monitor, from their SystemRDL description.

Ref: Young (UBC 2020) Section 5.1 (what is reported).
"""

from __future__ import annotations

from pathlib import Path

from systemrdl.node import AddrmapNode

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.registers import compile_description, identity_values

#: The register description.
RDL_FILE = Path(__file__).with_name("noncoherent.rdl")


def compile_registers() -> AddrmapNode:
    """The elaborated address map of ``noncoherent.rdl``."""
    return compile_description(RDL_FILE)


def supplied_constants(params: NoncoherentParams) -> dict[str, dict[str, int]]:
    """Values of the VERSION and PARAMS registers, as register -> field -> value."""
    return identity_values(compile_registers(), params, is_strict=params.is_strict)
