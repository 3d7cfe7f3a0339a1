"""Races of GPU traces by PTX's memory model."""

from racetrap.golden_model.ptx_memory_model.oracle.findings import OracleRule
from racetrap.golden_model.ptx_memory_model.oracle.oracle import PtxOracle

__all__ = ["OracleRule", "PtxOracle"]
