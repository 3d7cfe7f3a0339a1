"""Race oracle by PTX's memory model in C++."""

from racetrap.sim.gpu.oracle.compiled_oracle import CompiledOracle

__all__ = ["CompiledOracle"]
