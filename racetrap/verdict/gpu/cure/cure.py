"""The cure of a race: the fewest usual edits that end it, tried and then checked at length.

Edits are tried in a few runs.  What cures a race there is checked in fresh runs and by PTX's memory
model, and shown only if no run has the race, another one, a fault or another result.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain, combinations
from operator import or_

from racetrap.golden_model.barracuda.race import Missing
from racetrap.sim.gpu.editing.edits import Change, Edit
from racetrap.sim.gpu.editing.source_unit import SourceUnit
from racetrap.verdict.cause import Cause, Cure
from racetrap.verdict.gpu.cure.candidates import Strategy, strategies
from racetrap.verdict.gpu.cure.edit_trials import TRIED, EditTrials, Races
from racetrap.verdict.gpu.cure.outcomes import Places
from racetrap.verdict.gpu.cure.trials import Sources

#: Changes that are tried by twos if none does alone.
_PAIRED = 16
#: Different sets of the fewest changes that are checked at length.
_FEWEST = 4
_NEARLY = "an edit ends it, but results stay wrong until the other findings are cured"


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
        self._sources, self._trials = sources, EditTrials(sources)
        self._found_before: list[Cure] = []
        #: Edits that end races, but leave something wrong.
        self._nearly: dict[Races, tuple[Edit, ...]] = {}

    @property
    def races(self) -> Collection[Places]:
        """Races of the unchanged sources in the runs that try edits."""
        return self._trials.before.races.keys()

    def cure(
        self, races: Iterable[Places], cause: Cause | None = None, *, is_alone: bool = True
    ) -> Cure:  # fmt: skip
        """The cure of one bug.

        Parameters
        ----------
        races : iterable of Places
            Places of the two accesses of each of its races.
        cause : Cause, optional
            What they lack: tells which edits are tried first.
        is_alone : bool
            Whether there is no other bug.  If there is, edits that end the races and leave results
            wrong are kept for ``cures_together``, and no others are tried.
        """
        if cause and cause.missing is Missing.STREAM_ORDER:
            return Cure((), f"no edit of a kernel cures it: {cause.half}")
        own = self._trials.occurring(races)
        if not own:
            seldom = f"the race does not occur in the {len(TRIED)} runs that try edits"
            return Cure((), f"no edit was tried: {seldom}")
        if (other := self.other_cure(own)) is not None:
            return other
        threads = reduce(or_, (self._trials.before.races[race] for race in sorted(own, key=sorted)))
        changed = cause.places if cause else []
        units = self._units([*sorted(frozenset().union(*own)), *threads.calls, *changed])
        if not units:
            return Cure((), "no edit was tried: the source cannot be read")
        tried: list[str] = []
        nearly: tuple[Edit, ...] = ()
        for strategy in strategies(units, self._files(units), threads.relation, cause):
            if not strategy.changes:
                continue
            tried.append(strategy.name)
            for changes in self._found(strategy, own):
                edits = tuple(chain.from_iterable(changes))
                if self._trials.holds(edits, own):
                    cure = self._sources.cure(edits)
                    self._found_before.append(cure)
                    return cure
                if not nearly and not is_alone and self._trials.ends(edits, own):
                    nearly = edits
            if nearly:
                self._nearly[own] = nearly
                break
        if own in self._nearly:
            return Cure((), _NEARLY)
        half = f": {cause.half}" if cause else ""
        names = f"tried: {', '.join(dict.fromkeys(tried)) or 'none'}"
        macro = (
            ", and none in the text of the macro" if any(each.is_macro for each in units) else ""
        )
        return Cure((), f"no single edit cures it{half} ({names}{macro})")

    def distance(self, races: Iterable[Places]) -> int:
        """How far apart the threads of races are at most: what orders far ones may also order near
        ones."""
        own = self._trials.occurring(races)
        return max((self._trials.before.races[race].distance for race in own), default=0)

    def is_nearly_cured(self, races: Iterable[Places]) -> bool:
        """Whether edits end the races of a bug and leave results wrong."""
        return self._trials.occurring(races) in self._nearly

    def cures_together(self, bugs: Sequence[Iterable[Places]]) -> list[Cure]:
        """Cures of bugs that are nearly cured, if nothing is wrong with all of them, and all that
        were found before, together; none otherwise."""
        own = [self._trials.occurring(races) for races in bugs]
        near = [self._nearly[each] for each in own]
        edits = _union([*(each.edits for each in self._found_before), *near])
        if not edits or not self._trials.holds(edits, frozenset().union(*own)):
            return []
        cures = list(map(self._sources.cure, near))
        self._found_before += cures
        return cures

    def other_cure(self, races: Iterable[Places]) -> Cure | None:
        """The cure of another bug that ends one as well: it may follow from that."""
        own = self._trials.occurring(races)
        for cure in self._found_before:
            is_tried = own and self._trials.cures([cure.edits], own)
            if is_tried and self._trials.holds(cure.edits, own):
                return cure
        return None

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
            edits = _union([each.edits for each in cures[:count]])
            if count == 1 or (edits and self._trials.holds(edits, own)):
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

    def _found(self, strategy: Strategy, races: Races) -> Iterator[Sequence[Change]]:
        """Fewest changes of a strategy that cure a race; several if each does."""
        changes = list(dict.fromkeys(strategy.changes))
        if strategy.most <= 3:
            is_found = False
            for change in changes:
                if self._trials.cures([change], races):
                    is_found = True
                    yield [change]
            if is_found:
                return
        if strategy.most == 2:
            changes = list(filter(self._trials.may_compile, changes))
            for pair in combinations(changes[:_PAIRED], 2):
                if not _overlap(*pair) and self._trials.cures(pair, races):
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
        if not changes or not self._trials.cures(changes, races):
            return []
        size = len(changes) // 2
        while size:
            start = 0
            while start < len(changes):
                rest = changes[:start] + changes[start + size :]
                if rest and self._trials.cures(rest, races):
                    changes = rest
                else:
                    start += size
            size //= 2
        return changes


def _union(parts: Sequence[tuple[Edit, ...]]) -> tuple[Edit, ...]:
    """All edits of some sets, each once; none if two replace one byte."""
    edits = tuple(dict.fromkeys(chain.from_iterable(parts)))
    clash = any(one.overlaps(other) for one, other in combinations(edits, 2))
    return () if clash else edits


def _overlap(one: Change, other: Change) -> bool:
    return any(edit.overlaps(each) for edit in one for each in other)
