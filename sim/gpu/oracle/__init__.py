"""Race oracle: by PTX's memory model in C++, and by the papers' rules."""

from racetrap.sim.gpu.oracle.compiled_oracle import CompiledOracle
from racetrap.sim.gpu.oracle.findings import OracleRule
from racetrap.sim.gpu.oracle.rules import (
    JUDGE,
    ORACLE_RULES,
    PAPER_RULE,
    assumes_lockstep,
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
    "assumes_lockstep",
    "judge_trace",
    "ordered_by_lockstep",
    "run_oracle",
]
