"""The cure of a race: the fewest usual edits that end it, tried and then checked at length.

Edits are tried in a few runs.  What cures a race there is checked in fresh runs and by PTX's memory
model, and shown only if no run has the race, another one, a fault or another result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain, combinations, islice
from operator import or_

from racetrap.golden_model.barracuda.race import Missing
from racetrap.sim.gpu.editing.edits import Change, Edit
from racetrap.sim.gpu.editing.source_unit import SourceUnit
from racetrap.sim.gpu.stress.search import random_runs
from racetrap.verdict.cause import Cause, Cure
from racetrap.verdict.gpu.cure.candidates import Strategy, strategies
from racetrap.verdict.gpu.cure.outcomes import Outcome, Places
from racetrap.verdict.gpu.cure.trials import OUTSIDE, Sources

#: Races of one bug.
Races = frozenset[Places]
#: Runs in which edits are tried, and fresh ones in which the edits that are shown were checked.
_TRIED, CHECKED = range(4), range(100, 120)
#: Runs by PTX's memory model that edits which are shown must withstand.
WEAK = 20
#: Changes that are tried by twos if none does alone.
_PAIRED = 16
#: Different sets of the fewest changes that are checked at length.
_FEWEST = 4
_SEED = 1


class CureSearch:
    """Search for cures of the races of a program.

    Parameters
    ----------
    sources : Sources
        Its sources.

    Raises
    ------
    OutOfTime
        From every method, too: if the time of the sources is up.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._before = sources.outcome((), _TRIED) or Outcome()
        self._long_before: Outcome | None = None
        self._found_before: list[Cure] = []
        self._answers: dict[tuple[frozenset[Edit], Races], bool] = {}
        self._not_compiled: set[frozenset[Edit]] = set()

    @property
    def races(self) -> Collection[Places]:
        """Races of the unchanged sources in the runs that try edits."""
        return self._before.races.keys()

    def cure(self, races: Iterable[Places], cause: Cause | None = None) -> Cure:
        """The cure of one bug.

        Parameters
        ----------
        races : iterable of Places
            Places of the two accesses of each of its races.
        cause : Cause, optional
            What they lack: tells which edits are tried first.
        """
        if cause and cause.missing is Missing.STREAM_ORDER:
            return Cure((), f"no edit of a kernel cures it: {cause.half}")
        own = self._occurring(races)
        if not own:
            seldom = f"the race does not occur in the {len(_TRIED)} runs that try edits"
            return Cure((), f"no edit was tried: {seldom}")
        if (other := self.other_cure(own)) is not None:
            return other
        threads = reduce(or_, (self._before.races[race] for race in sorted(own, key=sorted)))
        changed = cause.places if cause else []
        units = self._units([*sorted(frozenset().union(*own)), *threads.calls, *changed])
        if not units:
            return Cure((), "no edit was tried: the source cannot be read")
        tried: list[str] = []
        for strategy in strategies(units, self._files(units), threads.relation, cause):
            if not strategy.changes:
                continue
            tried.append(strategy.name)
            for changes in self._found(strategy, own):
                edits = tuple(chain.from_iterable(changes))
                if self._holds(edits, own):
                    cure = self._sources.cure(edits)
                    self._found_before.append(cure)
                    return cure
        half = f": {cause.half}" if cause else ""
        names = f"; tried: {', '.join(dict.fromkeys(tried))}" if tried else ""
        return Cure((), f"no single edit cures it{half}{names}")

    def distance(self, races: Iterable[Places]) -> int:
        """How far apart the threads of races are at most: what orders far ones may also order near
        ones."""
        return max(
            (self._before.races[race].distance for race in self._occurring(races)), default=0
        )

    def other_cure(self, races: Iterable[Places]) -> Cure | None:
        """The cure of another bug that ends one as well: it may follow from that."""
        own = self._occurring(races)
        for cure in self._found_before:
            if own and self._cures([cure.edits], own) and self._holds(cure.edits, own):
                return cure
        return None

    def _occurring(self, races: Iterable[Places]) -> Races:
        """Races that occur in the runs that try edits."""
        return frozenset(race for race in races if race in self._before.races)

    def together(self, cures: Sequence[Cure], races: Iterable[Places]) -> tuple[Edit, ...]:
        """Edits of as many cures, the first ones, as end their races together.

        Parameters
        ----------
        cures : sequence of Cure
            The cures.
        races : iterable of Places
            All races that they cure.
        """
        own = frozenset(races)
        for count in range(len(cures), 0, -1):
            edits = tuple(dict.fromkeys(chain.from_iterable(each.edits for each in cures[:count])))
            clash = any(one.overlaps(other) for one, other in combinations(edits, 2))
            if count == 1 or (not clash and self._holds(edits, own)):
                return edits
        return ()

    def _units(self, places: Sequence[str]) -> list[SourceUnit]:
        """The different functions around places in sources that can be edited."""
        units: list[SourceUnit] = []
        for place in places:
            file, _, line = place.rpartition(":")
            own = (unit for unit in units if unit.file == file)
            if file in self._sources.texts and not any(unit.add(int(line)) for unit in own):
                units.append(SourceUnit(file, self._sources.texts[file], int(line)))
        return units

    def _files(self, units: Sequence[SourceUnit]) -> list[SourceUnit]:
        """The whole files of some functions, for what is written elsewhere in them."""
        files = dict.fromkeys(unit.file for unit in units)
        return [SourceUnit(file, self._sources.texts[file]) for file in files]

    # Trials

    def _cures(self, changes: Collection[Change], races: Races) -> bool:
        """Whether changes cure a race in the runs that try edits."""
        edits = tuple(chain.from_iterable(changes))
        key = frozenset(edits), races
        if key not in self._answers:
            self._answers[key] = self._is_cured(edits, races, self._before, _TRIED)
        return self._answers[key]

    def _is_cured(
        self, edits: Sequence[Edit], races: Races, before: Outcome, runs: range
    ) -> bool:  # fmt: skip
        outcome = self._sources.outcome(edits, runs, lambda found: not found.cures(races, before))
        if outcome is None:
            self._not_compiled.add(frozenset(edits))
        return outcome is not None and outcome.cures(races, before)

    def _found(self, strategy: Strategy, races: Races) -> Iterator[Sequence[Change]]:
        """Fewest changes of a strategy that cure a race; several if each does."""
        changes = list(dict.fromkeys(strategy.changes))
        if strategy.most <= 3:
            is_found = False
            for change in changes:
                if self._cures([change], races):
                    is_found = True
                    yield [change]
            if is_found:
                return
        if strategy.most == 2:
            changes = [each for each in changes if frozenset(each) not in self._not_compiled]
            for pair in combinations(changes[:_PAIRED], 2):
                if not _overlap(*pair) and self._cures(pair, races):
                    yield pair
                    return
        elif strategy.most > 2:
            if not self._sources.compiles(tuple(chain.from_iterable(changes))):
                changes = [each for each in changes if self._sources.compiles(each)]
            for _ in range(_FEWEST):
                fewest = self._fewest(changes, races)
                if not 0 < len(fewest) <= strategy.most:
                    return
                yield fewest
                changes = [each for each in changes if each not in fewest]

    def _fewest(self, changes: list[Change], races: Races) -> list[Change]:
        """The fewest of changes that together cure a race; none if all of them do not."""
        if not changes or not self._cures(changes, races):
            return []
        size = len(changes) // 2
        while size:
            start = 0
            while start < len(changes):
                rest = changes[:start] + changes[start + size :]
                if rest and self._cures(rest, races):
                    changes = rest
                else:
                    start += size
            size //= 2
        return changes

    def _holds(self, edits: tuple[Edit, ...], races: Races) -> bool:
        """Whether edits cure a race in fresh runs, too, and by PTX's memory model."""
        if self._long_before is None:
            self._long_before = self._before | (self._sources.outcome((), CHECKED) or Outcome())
        if not self._is_cured(edits, races, self._long_before, CHECKED):
            return False
        with self._sources.compiled(edits) as program:
            assert program is not None
            try:
                subject = program.subject()
            except ValueError:
                # Weak memory has no use for a program that faults in any case.
                return self._long_before.wrong == {OUTSIDE}
            runs = islice(random_runs(subject, "views", _SEED), WEAK)
            for run in runs:
                if subject.fails(run):
                    return False
                self._sources.require_time()
            return True


def _overlap(one: Change, other: Change) -> bool:
    return any(edit.overlaps(each) for edit in one for each in other)
