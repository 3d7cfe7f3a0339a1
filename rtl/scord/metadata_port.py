"""The AXI4 port through which a bank reaches its metadata; one signature on both of its sides."""

from __future__ import annotations

from racetrap.golden_model.scord.params import ENTRY_BITS, ScordParams
from racetrap.rtl.common.axi import Axi4Signature
from racetrap.rtl.scord.hazard_window import slot_bits

__all__ = ["metadata_port"]


def metadata_port(params: ScordParams) -> Axi4Signature:
    """A beat is an entry, a read id is a window slot."""
    return Axi4Signature(
        address_bits=params.address_bits, data_bits=ENTRY_BITS, id_bits=slot_bits(params)
    )
