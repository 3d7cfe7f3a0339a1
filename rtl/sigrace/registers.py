"""Registers of SigRace's Race Detection Module, from their SystemRDL description.

Ref: SigRace (ISCA'09) Sections 3.2, 3.3.1 and 4.3.1.
"""

from __future__ import annotations

from pathlib import Path

from systemrdl.node import AddrmapNode

from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.rtl.common.registers import compile_description, identity_values

#: The register description.
RDL_FILE = Path(__file__).with_name("sigrace.rdl")


def compile_registers() -> AddrmapNode:
    """The elaborated address map of ``sigrace.rdl``."""
    return compile_description(RDL_FILE)


def supplied_constants(params: SigraceParams) -> dict[str, dict[str, int]]:
    """Values of the VERSION and PARAMS registers, as register -> field -> value."""
    return identity_values(compile_registers(), params, is_hashed=params.form is Form.HASHED)
