"""Races of GPU traces by PTX's memory model."""

from racetrap.golden_model.ptx_memory_model.oracle.oracle import OracleRule, PtxOracle

__all__ = ["OracleRule", "PtxOracle"]
