"""The judge keeps a part of the accesses; the suites' verdicts are those of one that keeps all."""

import pytest

from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.oracle import CompiledOracle, OracleRule
from tests.lane_verdicts import SCHEDULES, SUITES
from tests.support.ptx_oracle.oracle import PtxOracle


def _verdict(result):
    """All that findings say but for counts and which instance is the first."""
    races = {(race.kernel, race.key) for race in result.races}
    strong = {(race.kernel, race.key) for race in result.unordered_strong}
    return races, strong, sorted(result.barrier_divergences)


@pytest.mark.campaign
@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("suite", SUITES)
def test_verdicts_of_the_suites(suite, independent):
    judged = racy = 0
    for subject in SUITES[suite]():
        for scheduler, seed in SCHEDULES:
            try:
                trace = subject.run(scheduler, seed, independent)
            except ExecutionError:
                continue
            plain, fast = (
                _verdict(form(OracleRule.CAUSALITY, independent).run(trace))
                for form in (PtxOracle, CompiledOracle)
            )
            assert plain == fast, subject.name
            judged, racy = judged + 1, racy + bool(plain[0])
    assert judged > racy > 0
