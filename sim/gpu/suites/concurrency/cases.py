"""Cases of the concurrency suite, as ``cases.toml`` lists them.

Ref: BARRACUDA (PLDI'17) Section 6.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

from pydantic import Field, model_validator

from racetrap.sim.gpu.launch.launch_file import BlockShape, GridShape
from racetrap.sim.toml_file import Table, TomlFile, one_of, read_toml, rule_error

#: Classes of the races found in a run; empty if there is none.
RaceClasses = frozenset[str]

NONE: RaceClasses = frozenset()
DIVERGENCE: RaceClasses = frozenset({"divergence"})
INTRA_BLOCK: RaceClasses = frozenset({"intra-block"})
INTER_BLOCK: RaceClasses = frozenset({"inter-block"})
BARRIER_DIVERGENCE: RaceClasses = frozenset({"barrier divergence"})

_TRUTHS = _RACY, _RACE_FREE = "racy", "race-free"

_Class = Annotated[str, one_of(DIVERGENCE | INTRA_BLOCK | INTER_BLOCK | BARRIER_DIVERGENCE)]
_Races = Annotated[frozenset[_Class], Field(strict=False)]


class Case(Table):
    """A small kernel with its right verdicts.

    Parameters
    ----------
    name : str
        Name of case and kernel.
    grid, block : (int, int, int)
        Shape of the launch.
    races : RaceClasses
        Classes of race that BARRACUDA's analysis finds, over all schedules together.
    reason : str
        Why, in one line.
    scoped : RaceClasses, optional
        Those that the scope-aware oracle finds, if different.
    scoped_reason : str
        Why they are.
    truth : str
        ``racy`` or ``race-free``, where BARRACUDA's analysis errs; empty where its verdict is true.
    truth_reason : str
        Why, where a verdict of the papers' analyses is not true.
    scord_reason : str
        Why ScoRD's verdict is not the scope-aware oracle's, if it is not.
    dynamic_shared : int
        Bytes of dynamic shared memory.
    launches : int
        Launches of the kernel, one after the other.
    source : str
        File of the kernel, without suffix; that of the group.
    """

    name: str
    grid: GridShape
    block: BlockShape
    races: _Races
    reason: str
    scoped: _Races | None = None
    scoped_reason: str = ""
    truth: Annotated[str, one_of(("", *_TRUTHS))] = ""
    truth_reason: str = ""
    scord_reason: str = ""
    dynamic_shared: int = 0
    launches: int = 1
    source: str = ""

    @model_validator(mode="after")
    def _check_reason(self) -> Case:
        if (self.scoped_races != self.races) != bool(self.scoped_reason):
            rule = f"given where the verdicts on {self.name} differ and only there"
            raise rule_error("scoped_reason", rule, self.scoped_reason)
        if self.truth and (self.truth == _RACY) == bool(self.races):
            rule = f"given where BARRACUDA's verdict on {self.name} errs and only there"
            raise rule_error("truth", rule, self.truth)
        return self

    @property
    def is_racy(self) -> bool:
        """Whether it has a race, or a barrier that some threads do not reach, whatever an analysis
        finds: two accesses, not both atomics of a scope that includes both threads, that neither
        barriers nor fences beside strong accesses of wide enough scopes order.  Lanes of a warp run
        in lockstep, and the sides of a branch in any order."""
        return self.truth == _RACY if self.truth else bool(self.races)

    @property
    def scoped_races(self) -> RaceClasses:
        """Classes of race that the scope-aware oracle finds."""
        return self.races if self.scoped is None else self.scoped


class _Group(Table):
    title: str
    source: str
    cases: list[Case]


class _Suite(TomlFile):
    groups: list[_Group]


_GROUPS = read_toml(Path(__file__).with_suffix(".toml"), _Suite).groups

#: Cases by subject.
GROUPS: Mapping[str, tuple[Case, ...]] = MappingProxyType({
    group.title: tuple(case.model_copy(update={"source": group.source}) for case in group.cases)
    for group in _GROUPS
})  # fmt: skip

#: Every case by name.
CASES = MappingProxyType({case.name: case for cases in GROUPS.values() for case in cases})
