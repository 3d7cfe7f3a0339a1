"""Results of the SigRace evaluation: real figures of a small program, and made-up counts."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from racetrap.evaluation.sigrace import policies
from racetrap.evaluation.sigrace.figures import Figures, make_figures
from racetrap.evaluation.sigrace.hardware import HardwareRun
from racetrap.evaluation.sigrace.pace import Pace
from racetrap.evaluation.sigrace.policies import PAPERS, PolicyFigures
from racetrap.evaluation.sigrace.races import Existing, Injected, RaceCount
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.golden_model.sigrace.missed import RaceOutcome
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.result import FirstRace, SigraceStatistics
from racetrap.sim.cpu.verdicts import ProgramVerdict
from tests.support.sigrace.programs import ThreadProgram

SOME = RaceCount(2, 20)
EXISTING = Existing(
    exact=RaceCount(2, 30),
    ideal=RaceCount(2, 28),
    sigrace=RaceCount(2, 20),
    reenact=RaceCount(1, 7),
    false_sharing=3,
    unreal=0,
    outcomes={
        str(RaceOutcome.REPORTED): 20,
        str(RaceOutcome.ATOMIC): 2,
        str(RaceOutcome.OVERFLOW): 8,
    },
    false_positives=4,
    conflicts=50,
    statistics=SigraceStatistics(
        instructions=1000,
        reexecuted=500,
        first_race=FirstRace(200, 100, 25),
        rollbacks={"sync": 3, "end": 1},
    ),
)
INJECTED = Injected(
    removed="lock <m> taken at a.c:1 by thread 1",
    exact=RaceCount(3, 9),
    sigrace=RaceCount(2, 5),
    reenact=RaceCount(1, 1),
    unreal=0,
    outcomes={str(RaceOutcome.REPORTED): 5, str(RaceOutcome.LOG_FULL): 4},
    first_race=FirstRace(300, 30, 0),
)
POLICIES = {
    name: PolicyFigures(
        FirstRace(100, 50, 0), SigraceStatistics(instructions=1000), 0, 0, SOME, RaceCount(0, 0)
    )
    for name in policies.POLICIES
} | {
    PAPERS: PolicyFigures(
        EXISTING.statistics.first_race, EXISTING.statistics, 500, 400, SOME, RaceCount(0, 0)
    )
}
VERDICT = ProgramVerdict("fft", ("8",), 100, True, frozenset({("a", "b")}), frozenset({("a", "b")}))
HARDWARE = HardwareRun(100, 150, 10, 400, 20, "")
PACE = Pace(1, 1, 10, 30.0, 12.0, 15.0, 3.0, 900, 70, 7)


@cache
def _figures() -> Figures:
    """Threads that store all over the memory."""
    program, random = ThreadProgram(2), Random(1)
    for _ in range(400):
        program.store(random.randrange(2), random.randrange(0, 1 << 26, 4), instructions=50)
    return make_figures(program.trace(), SigraceParams())


def result(program: str = "fft", **parts: Any) -> ProgramResult:
    """Result of a program, some of whose parts are given."""
    defaults = {
        "figures": _figures(),
        "existing": EXISTING,
        "injected": (INJECTED,),
        "verdict": VERDICT._replace(name=program),
        "hardware": HARDWARE,
        "pace": (PACE,),
        "policies": POLICIES,
    }
    return ProgramResult(program, **defaults | parts)
