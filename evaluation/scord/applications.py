"""The ScoR applications on the hardware: what it reports for each build, beside the oracle.

Ref: ScoRD (ISCA'20) Section V-A.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from racetrap.evaluation.scord.programs import Build, Schedule, applications
from racetrap.evaluation.scord.runs import BuildRun, RunResult
from racetrap.golden_model.scord.packets import RaceKind
from racetrap.golden_model.scord.report import race_words
from racetrap.sim.cosim.fast.build import FastModel

_GOLDEN = "golden"


@dataclass
class ApplicationVerdict:
    """Result of all runs of one build of an application.

    Parameters
    ----------
    build : Build
        The build.
    runs, oracle, golden, rtl : int
        Runs, and those in which oracle, golden model and hardware found a race.
    kinds : set of str
        Kinds of the races that the hardware reported.
    steps, cycles : int
        Steps compared, and clock cycles, of all runs.
    agrees : bool
        Whether hardware and golden model reported the same unique races in every run.
    """

    build: Build
    runs: int = 0
    oracle: int = 0
    golden: int = 0
    rtl: int = 0
    kinds: set[str] = field(default_factory=set)
    steps: int = 0
    cycles: int = 0
    agrees: bool = True

    def add(self, result: RunResult) -> None:
        """Add one run."""
        hardware = result.hardware
        assert hardware is not None
        golden = result.detectors[_GOLDEN]
        self.runs += 1
        self.oracle += bool(result.oracle)
        self.golden += bool(golden)
        self.rtl += bool(hardware.races)
        self.kinds |= {race_words(RaceKind(kind)) for _, kind in hardware.races}
        self.steps += hardware.steps
        self.cycles += hardware.cycles
        self.agrees &= hardware.races == golden

    @property
    def expected(self) -> str:
        """``race`` or ``none``."""
        return "race" if self.build.racy else "none"

    @property
    def is_right(self) -> bool:
        """Whether the hardware agrees with the golden model, and a race was reported in some
        run if and only if the build is racy."""
        return self.agrees and bool(self.rtl) == self.build.racy


def application_runs(model: FastModel, size: str, schedules: int, seed: int) -> list[BuildRun]:
    """Runs of all builds, in the order of the suite.

    Parameters
    ----------
    model : FastModel
        Hardware to run.
    size : str
        Size of the inputs.
    schedules : int
        Schedules of each build.
    seed : int
        Seed of inputs and schedules.
    """
    golden = {_GOLDEN: model.params}
    return [
        BuildRun(build, size, Schedule(number, seed), seed, golden, _GOLDEN, model)
        for build in applications()
        for number in range(schedules)
    ]


def application_verdicts(results: Iterable[RunResult]) -> list[ApplicationVerdict]:
    """Verdicts by build, in the order of the results."""
    verdicts: dict[Build, ApplicationVerdict] = {}
    for result in results:
        build = result.run.build
        verdicts.setdefault(build, ApplicationVerdict(build)).add(result)
    return list(verdicts.values())
