"""Judge of a run while it runs: what the oracle finds, and what only lockstep orders."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda import Race, Result
from racetrap.golden_model.barracuda.concurrent import are_concurrent
from racetrap.golden_model.events import EventKind
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.oracle.compiled_oracle import OracleRun
from racetrap.sim.gpu.oracle.findings import OracleRule
from racetrap.sim.gpu.oracle.rules import ordered_by_lockstep, run_oracle, without_known

_ORDER = (EventKind.KERNEL_BEGIN, EventKind.COPY_READ, EventKind.COPY_WRITE, EventKind.AFTER)


class Judgement(NamedTuple):
    """What is wrong with a run.

    Parameters
    ----------
    result : Result
        What the oracle has found.
    ordered_by_lockstep : list of Race
        Pairs that would race if the lanes of a warp were scheduled independently.
    events : int
        Events of the run.
    has_concurrent_kernels : bool
        Whether kernels or copies that nothing orders were not compared: only a whole trace shows
        their races.
    """

    result: Result
    ordered_by_lockstep: list[Race]
    events: int
    has_concurrent_kernels: bool = False


def judge_trace(trace: Trace, rule: str, independent: bool) -> Judgement:
    """Judgement on a whole trace by one of ``ORACLE_RULES``."""
    result = run_oracle(trace, rule, independent)
    lockstep = [] if independent else ordered_by_lockstep(trace, rule, result)
    return Judgement(result, lockstep, len(trace))


class RunningJudge:
    """Takes the events of a run as they come.

    Parameters
    ----------
    rule : OracleRule
        What is a race.
    independent : bool
        Whether the lanes of a warp are scheduled independently.
    """

    def __init__(self, rule: OracleRule, independent: bool) -> None:
        self._run = OracleRun(rule, independent)
        self._if_independent = None if independent else OracleRun(rule, True)
        self._order: list[np.ndarray] = []

    def feed(self, events: np.ndarray, lanes: np.ndarray, first_lane: int) -> None:
        """Take events and their lanes, as ``OracleRun.feed`` does."""
        self._order.append(events[np.isin(events["kind"], _ORDER)])
        self._run.feed(events, lanes, first_lane)
        if self._if_independent is not None:
            self._if_independent.feed(events, lanes, first_lane)

    def end(self) -> Judgement:
        """The judgement on all events; the judge is of no further use."""
        result, lockstep = self._run.end(), []
        if self._if_independent is not None:
            lockstep = without_known(self._if_independent.end().races, result)
            self._if_independent.close()
        self._run.close()
        concurrent = are_concurrent(np.concatenate(self._order))
        return Judgement(result, lockstep, self._run.events, concurrent)
