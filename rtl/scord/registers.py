"""Registers of the ScoRD system, from their SystemRDL description.

Ref: ScoRD (ISCA'20) Section IV (host side: allocation of metadata and report buffer).
"""

from __future__ import annotations

from pathlib import Path

from systemrdl.node import AddrmapNode

from racetrap.golden_model.gpu.params import WORDS_PER_LINE
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.rtl.common.register_description import compile_description, identity_values

#: The register description.
RDL_FILE = Path(__file__).with_name("scord.rdl")

#: Maximum banks that PARAMS_GEOMETRY can state.
_MOST_BANKS = 255


def register_parameters(params: ScordParams) -> dict[str, int]:
    """Parameters of the description for an instance."""
    # At most all banks have a fence in each lane, or drop a report as the report path does.
    most = params.banks * params.fence_lanes + 1
    if params.leaves_out:
        most = max(most, params.sm_count * WORDS_PER_LINE)
    return {
        "INCREMENT_BITS": max(5, most.bit_length()),
        "REGIONS": params.regions,
        "HAS_VALID_TABLE": params.valid_segments > 0,
        "SHARES_FENCE_FILE": params.shares_owners,
        "MANY_BANKS": params.banks > _MOST_BANKS,
        "HAS_ACCESS_BUFFER": params.access_buffer_depth > 0,
        "LEAVES_OUT": params.leaves_out,
        "HAS_PROTECTION": params.protection,
    }


def compile_registers(params: ScordParams) -> AddrmapNode:
    """The elaborated address map of ``scord.rdl`` for an instance."""
    return compile_description(RDL_FILE, **register_parameters(params))


def supplied_constants(params: ScordParams) -> dict[str, dict[str, int]]:
    """Values of the VERSION and PARAMS registers, as register -> field -> value."""
    return identity_values(
        compile_registers(params),
        params,
        local_metadata=params.local_bytes > 0,
        banks=params.banks if params.banks <= _MOST_BANKS else 0,
        all_banks=params.banks,
        drops=params.access_policy == AccessPolicy.DROP,
    )
