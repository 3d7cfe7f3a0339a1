"""Registers of the ScoRD system, from their SystemRDL description.

Ref: ScoRD (ISCA'20) Section IV (host side: allocation of metadata and report buffer).
"""

from __future__ import annotations

from pathlib import Path

from systemrdl.node import AddrmapNode

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.common.registers import compile_description, identity_values

__all__ = [
    "RDL_FILE", "REGION_REGISTERS", "compile_registers", "register_macros",
    "supplied_constants",
]  # fmt: skip

#: The register description.
RDL_FILE = Path(__file__).with_name("scord.rdl")


#: Registers of one region of a table, behind ``REGION<n>_``.
REGION_REGISTERS = (
    "DATA_BASE_LO", "DATA_BASE_HI", "LINES", "METADATA_BASE_LO", "METADATA_BASE_HI",
)  # fmt: skip
#: Bits of what a counter adds in a cycle without the macro.
_INCREMENT_BITS = 5
#: Banks that PARAMS_GEOMETRY can tell.
_MOST_BANKS = 255


def register_macros(params: ScordParams) -> dict[str, str]:
    """Macros of ``scord.rdl`` for an instance.

    In a cycle a counter adds at most the fences of all banks, or a report dropped by each of them
    and by the ring.
    """
    macros = {}
    if params.regions > 1:
        macros = {"TABLE": "", **{f"REGION_{number}": "" for number in range(params.regions)}}
    if params.banks > _MOST_BANKS:
        macros["MANY_BANKS"] = ""
    increment_bits = (params.banks * params.fence_lanes + 1).bit_length()
    if increment_bits > _INCREMENT_BITS:
        macros["INCREMENT_BITS"] = str(increment_bits)
    return macros


def compile_registers(params: ScordParams) -> AddrmapNode:
    """The elaborated address map of ``scord.rdl`` for an instance."""
    return compile_description(RDL_FILE, **register_macros(params))


def supplied_constants(params: ScordParams) -> dict[str, dict[str, int]]:
    """Values of the VERSION and PARAMS registers, as register -> field -> value."""
    return identity_values(
        compile_registers(params),
        params,
        local_metadata=params.local_bytes > 0,
        banks=params.banks if params.banks <= _MOST_BANKS else 0,
        all_banks=params.banks,
    )
