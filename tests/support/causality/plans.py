"""Configurations for co-simulation of causality."""

from __future__ import annotations

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.gpu.region import Region

#: Two banks, so that the interconnect and the order of notices matter; clocks that wrap now and
#: then.
TWO_BANKS = CausalityParams(
    sm_count=2, blocks_per_sm=2, warps_per_sm=4, banks=2, clock_bits=5, epoch_bits=1, hash_bits=8,
    ratio=4, outstanding=16, shared_bytes=256,
)  # fmt: skip
REGION = Region(data_base=1 << 13, size_log2=12, metadata_base=0x8000)
