"""Race oracle: by PTX's memory model in C++, and by the paper's rule."""

from racetrap.sim.gpu.oracle.compiled_oracle import CompiledOracle
from racetrap.sim.gpu.oracle.findings import OracleRule
from racetrap.sim.gpu.oracle.rules import (
    JUDGE,
    ORACLE_RULES,
    PAPER_RULE,
    ordered_by_lockstep,
    run_oracle,
)

__all__ = [
    "JUDGE",
    "ORACLE_RULES",
    "PAPER_RULE",
    "CompiledOracle",
    "OracleRule",
    "ordered_by_lockstep",
    "run_oracle",
]
