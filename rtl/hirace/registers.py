"""Registers of the HiRace system, from their SystemRDL description.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from pathlib import Path

from systemrdl.node import AddrmapNode

from racetrap.golden_model.hirace.params import HiraceParams
from racetrap.rtl.common.register_description import compile_description, identity_values

#: The register description.
RDL_FILE = Path(__file__).with_name("hirace.rdl")


def register_parameters(params: HiraceParams) -> dict[str, int]:
    """Parameters of the description for an instance."""
    # At most all banks drop a report as the report path does.
    return {
        "INCREMENT_BITS": (params.banks + 1).bit_length(), "HAS_PROTECTION": params.protection,
    }  # fmt: skip


def compile_registers(params: HiraceParams) -> AddrmapNode:
    """The elaborated address map of ``hirace.rdl`` for an instance."""
    return compile_description(RDL_FILE, **register_parameters(params))


def supplied_constants(params: HiraceParams) -> dict[str, dict[str, int]]:
    """Values of the VERSION and PARAMS registers, as register -> field -> value."""
    return identity_values(compile_registers(params), params)
