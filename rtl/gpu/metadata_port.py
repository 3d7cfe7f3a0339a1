"""The AXI4 port through which banks reach their metadata; one signature on both of its sides."""

from __future__ import annotations

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.rtl.common.axi import Axi4Signature
from racetrap.rtl.gpu.hazard_window import slot_bits


def metadata_port(params: GpuParams) -> Axi4Signature:
    """A beat is a segment, the entries of the port's banks; a read id is a window slot."""
    return Axi4Signature(
        address_bits=params.address_bits,
        data_bits=8 * params.segment_bytes,
        id_bits=slot_bits(params),
    )
