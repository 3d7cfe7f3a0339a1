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
from racetrap.sim.gpu.oracle.running_judge import Judgement, RunningJudge, judge_trace

__all__ = [
    "JUDGE",
    "ORACLE_RULES",
    "PAPER_RULE",
    "CompiledOracle",
    "Judgement",
    "OracleRule",
    "RunningJudge",
    "judge_trace",
    "ordered_by_lockstep",
    "run_oracle",
]
