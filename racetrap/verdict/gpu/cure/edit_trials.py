"""Edits tried against races: in a few runs, in fresh ones, and by PTX's memory model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain, islice

from racetrap.sim.gpu.editing.edits import Change, Edit
from racetrap.sim.gpu.stress.search import random_runs
from racetrap.verdict.gpu.cure.outcomes import Outcome, Places
from racetrap.verdict.gpu.cure.trials import OUTSIDE, Sources

#: Races of one bug.
Races = frozenset[Places]
#: Runs in which edits are tried, and fresh ones in which the edits that are shown were checked.
TRIED, CHECKED = range(4), range(100, 120)
#: Runs by PTX's memory model that edits which are shown must withstand.
WEAK = 20
_SEED = 1


class EditTrials:
    """Trials of edits, each made once.

    Parameters
    ----------
    sources : Sources
        What is edited.

    Attributes
    ----------
    before : Outcome
        What the runs in which edits are tried show without one.

    Raises
    ------
    OutOfTime
        From every method, too: if the time of the sources is up.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self.before = sources.outcome((), TRIED) or Outcome()
        self._long_before: Outcome | None = None
        self._answers: dict[tuple[frozenset[Edit], Races, range, bool], bool] = {}
        self._right: dict[frozenset[Edit], bool] = {}
        self._not_compiled: set[frozenset[Edit]] = set()

    def occurring(self, races: Iterable[Places]) -> Races:
        """Races that occur in the runs that try edits."""
        return frozenset(race for race in races if race in self.before.races)

    def cures(self, changes: Collection[Change], races: Races) -> bool:
        """Whether changes cure races in the runs that try edits."""
        return self._is_cured(tuple(chain.from_iterable(changes)), races, self.before, TRIED)

    def ends(self, edits: Sequence[Edit], races: Races) -> bool:
        """Whether edits cure races in fresh runs, too."""
        if self._is_cured(edits, races, self.before, CHECKED):
            return True
        # What these runs show may be there without edits as well, in as many runs.
        if self._long_before is None:
            self._long_before = self.before | (self._sources.outcome((), CHECKED) or Outcome())
        return self._is_cured(edits, races, self._long_before, CHECKED)

    def holds(self, edits: Sequence[Edit], races: Races) -> bool:
        """Whether edits cure races in fresh runs, and results are right by PTX's memory model."""
        return self.ends(edits, races) and self._are_right(edits)

    def may_compile(self, change: Change) -> bool:
        """Whether a change has not been seen not to compile."""
        return frozenset(change) not in self._not_compiled

    def _is_cured(
        self, edits: Sequence[Edit], races: Races, before: Outcome, runs: range
    ) -> bool:  # fmt: skip
        key = frozenset(edits), races, runs, before is self.before
        if key not in self._answers:
            outcome = self._sources.outcome(
                edits, runs, lambda found: not found.cures(races, before)
            )
            if outcome is None:
                self._not_compiled.add(key[0])
            self._answers[key] = outcome is not None and outcome.cures(races, before)
        return self._answers[key]

    def _are_right(self, edits: Sequence[Edit]) -> bool:
        """Whether no run by PTX's memory model fails."""
        key = frozenset(edits)
        if key not in self._right:
            self._right[key] = self._stressed(edits)
        return self._right[key]

    def _stressed(self, edits: Sequence[Edit]) -> bool:
        with self._sources.compiled(edits) as program:
            assert program is not None
            try:
                subject = program.subject()
            except ValueError:
                # Weak memory has no use for a program that faults in any case.
                return (self._long_before or self.before).wrong == {OUTSIDE}
            for run in islice(random_runs(subject, "views", _SEED), WEAK):
                if subject.fails(run):
                    return False
                self._sources.require_time()
            return True
