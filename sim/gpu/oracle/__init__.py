"""Race oracle by PTX's memory model in C++."""

from racetrap.sim.gpu.oracle.compiled_oracle import CompiledOracle
from racetrap.sim.gpu.oracle.findings import OracleRule

__all__ = ["CompiledOracle", "OracleRule"]
