"""Verdicts on the micro-benchmarks over all their runs.

Ref: ScoRD (ISCA'20) Section V.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from racetrap.golden_model.scord.report import RaceReport, race_words
from racetrap.sim.gpu.suites.micro.micro_benchmarks import MICRO_BENCHMARKS


@dataclass
class Verdict:
    """Result of all runs of one micro-benchmark.

    Parameters
    ----------
    name : str
        Micro-benchmark.
    schedules, golden_right, rtl_right : int
        Runs (one in each schedule and placement), and those in which golden model and hardware
        were right.
    kinds, scopes : set of str
        Kinds and scopes of the races that the hardware reported.
    cycles : list of int
        Clock cycles of each run.
    wrong : list of str
        Schedule and placement of each run with a wrong verdict.
    difference : str
        First difference from the golden model, which ended the runs; empty if there is none.
    """

    name: str
    schedules: int = 0
    golden_right: int = 0
    rtl_right: int = 0
    kinds: set[str] = field(default_factory=set)
    scopes: set[str] = field(default_factory=set)
    cycles: list[int] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    difference: str = ""

    @property
    def expected(self) -> str:
        """``race`` or ``none``."""
        return "race" if MICRO_BENCHMARKS[self.name].racy else "none"

    @property
    def is_right(self) -> bool:
        """Whether hardware and golden model gave the expected verdict in every run."""
        return (
            self.schedules > 0
            and self.golden_right == self.rtl_right == self.schedules
            and not self.difference
        )

    @property
    def golden(self) -> str:
        """Verdict of the golden model over all runs."""
        return self._over_all(self.golden_right)

    @property
    def rtl(self) -> str:
        """Verdict of the hardware over all runs."""
        return self._over_all(self.rtl_right)

    def _over_all(self, right: int) -> str:
        if right == self.schedules:
            return self.expected
        return f"{self.expected} in {right} of {self.schedules}"

    def add(
        self, run: str, golden: Sequence[RaceReport], rtl: Sequence[RaceReport], cycles: int
    ) -> None:
        """Add a run, with the races of golden model and hardware."""
        benchmark = MICRO_BENCHMARKS[self.name]
        golden_right, rtl_right = benchmark.is_right(golden), benchmark.is_right(rtl)
        self.schedules += 1
        self.golden_right += golden_right
        self.rtl_right += rtl_right
        self.kinds |= {race_words(race.race) for race in rtl}
        self.scopes |= {race.race_scope.name.lower() for race in rtl}
        self.cycles.append(cycles)
        if not (golden_right and rtl_right):
            self.wrong.append(run)

    @property
    def problem(self) -> str | None:
        """Why the verdict is not right, or not that of the golden model; ``None`` if it is."""
        if self.is_right:
            return None
        return self.difference or f"wrong verdict: {'; '.join(self.wrong)}"
