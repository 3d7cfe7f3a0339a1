"""Rollback: Re-execution and Analysis of logged conflicts.

Execution then continues in Normal mode.  Re-execution refills the flushed queues with the same
blocks, so at the point of the rollback they have their old contents: the model keeps them.

Ref: SigRace (ISCA'09) Sections 3.3 and 3.4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import combinations

from racetrap.golden_model.happens_before.epoch_index import CollectedAccess, EpochIndex
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.sigrace.analysis import (
    AnalysisPass,
    analysis_events,
    hits,
    plan_passes,
    races_of,
)
from racetrap.golden_model.sigrace.checkpoint import Checkpoint
from racetrap.golden_model.sigrace.confirmation import Confirmation
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.packets import LogEntry
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.reexecution import Reexecution
from racetrap.golden_model.sigrace.result import FirstRace, SigraceStatistics
from racetrap.golden_model.sigrace.signature import signature_hash

#: Two epochs, each as thread and its own counter.
_Epochs = tuple[tuple[int, int], tuple[int, int]]


class Rollback:
    """Software handler of the RDM's requests.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    index : EpochIndex
        The recorded program.
    checkpoint : Checkpoint
        The last checkpoint; it is updated.
    statistics : SigraceStatistics
        Counts to update.
    analysis_unit : callable
        Returns the core unit that executes the next epoch in Analysis mode.
    confirmation : Confirmation or None
        Compares the blocks of a conflict first, if there are address rings.

    Attributes
    ----------
    races : set of ThreadRace
        Races confirmed.
    false_sharing : set of ThreadRace
        Accesses to different bytes of a granule, in one analysed epoch each: no races.
    false_positives : int
        Conflicts analysed that had no race.
    """

    def __init__(
        self,
        params: SigraceParams,
        index: EpochIndex,
        checkpoint: Checkpoint,
        statistics: SigraceStatistics,
        analysis_unit: Callable[[], CoreUnit],
        confirmation: Confirmation | None = None,
    ) -> None:
        self.races: set[ThreadRace] = set()
        self.false_sharing: set[ThreadRace] = set()
        self.false_positives = 0
        self._params = params
        self._hash = signature_hash(params)
        self._index = index
        self._checkpoint = checkpoint
        self._statistics = statistics
        self._analysis_unit = analysis_unit
        self._confirmation = confirmation
        # Conflict Signatures that have been analysed.  Epochs are analysed to their end, so their
        # later accesses, even after a checkpoint, need no second analysis.  Those of different
        # passes are kept apart: their union has members that none of them has.
        self._saved: defaultdict[_Epochs, list[int]] = defaultdict(list)

    def handle(self, entries: Iterable[LogEntry], reason: str) -> None:
        """Handle logged conflicts; without a new one there is no rollback.

        Parameters
        ----------
        entries : iterable of LogEntry
            The conflict log.
        reason : str
            Cause of the rollback.
        """
        statistics = self._statistics
        if self._confirmation is not None:
            self._confirmation.begin()
        new = [entry for entry in entries if self._is_new(entry)]
        if not new:
            return
        statistics.rollbacks[reason] = statistics.rollbacks.get(reason, 0) + 1
        before = statistics.repeated
        found: set[ThreadRace] = set()
        for each in plan_passes(new):
            races, false_sharing = self._run(each)
            found |= races
            self.false_sharing |= false_sharing
            self._save(each)
        self.races |= found
        if not found:
            statistics.repeated_for_nothing += statistics.repeated - before
        elif statistics.first_race is None:
            statistics.first_race = FirstRace(
                self._checkpoint.total, statistics.repeated, statistics.repeated_for_nothing
            )

    def _members(self, thread: int, first: int, last: int, signature: int) -> set[int]:
        """Granules collected at positions of a thread that are members of a signature."""
        outside, bits = ~signature, self._hash.granule
        granules = self._index.granules(thread, first, last)
        return {granule for granule in granules if not bits(granule) & outside}

    def _save(self, each: AnalysisPass) -> None:
        """Keep what a pass has analysed: what both threads of a pair have trapped on."""
        own = {thread: (thread, stop[thread]) for thread, stop in each.stops.items()}
        for one, other in combinations(sorted(own), 2):
            both = each.signatures[one] & each.signatures[other]
            saved = self._saved[own[one], own[other]]
            saved[:] = [signature for signature in saved if signature & ~both]
            saved.append(both)

    def _is_new(self, entry: LogEntry) -> bool:
        """Whether a conflict must be analysed: with address rings, if it can have a new race."""
        statistics, saved = self._statistics, self._saved.get(_epochs(entry), ())
        if _is_in(entry.signature, saved):
            statistics.conflicts_ignored += 1
            return False
        if self._confirmation is None:
            return True
        common = self._confirmation.common(entry)
        if common is None:
            statistics.conflicts_unheld += 1
            return True
        if not common:
            statistics.conflicts_dismissed += 1
            return False
        # Epochs are analysed whole: an address needs no second analysis, whatever else conflicts.
        is_known = all(_is_in(self._hash.granule(granule), saved) for granule in common)
        statistics.conflicts_ignored += is_known
        return not is_known

    def _run(self, each: AnalysisPass) -> tuple[set[ThreadRace], set[ThreadRace]]:
        """Execute again, and analyse: races, and accesses to different bytes."""
        self._statistics.passes += 1
        self._reexecute(each)
        epochs = {thread: self._epoch(thread, stop[thread]) for thread, stop in each.stops.items()}
        members = {
            thread: self._members(thread, *epochs[thread], each.signatures[thread])
            for thread in epochs
        }
        found: defaultdict[RaceParty, set[tuple[int, int, int]]] = defaultdict(set)
        for thread, (first, last) in epochs.items():
            self._statistics.analysed += self._index.instructions(thread, first, last)
            others = set().union(*(members[other] for other in members if other != thread))
            if common := sorted(members[thread] & others):
                accesses = self._index.accesses(thread, first, last, common)
                self._analyse(each, thread, accesses, found)
        races, false_sharing = races_of(found)
        both = races | false_sharing  # the signatures were right about either
        self.false_positives += sum(not self._explains(both, entry) for entry in each.entries)
        return races, false_sharing

    def _reexecute(self, each: AnalysisPass) -> None:
        """Count the instructions of all threads up to their stops."""
        stops = {thread: timestamp[thread] for thread, timestamp in each.stops.items()}
        log = self._checkpoint.log
        lengths = Reexecution(self._checkpoint.epochs, log, stops).lengths()
        for thread, length in enumerate(lengths):
            if length:
                stop = self._index.start(thread, log[thread][length - 1][thread])
                begin = self._begin(thread)
                self._statistics.reexecuted += self._index.instructions(thread, begin, stop)

    def _epoch(self, thread: int, epoch: int) -> tuple[int, int]:
        """Positions from the start of an epoch, or the checkpoint in it, to its end."""
        first = max(self._index.start(thread, epoch), self._begin(thread))
        return first, self._index.start(thread, epoch + 1)

    def _analyse(
        self,
        each: AnalysisPass,
        thread: int,
        accesses: Iterable[CollectedAccess],
        found: defaultdict[RaceParty, set[tuple[int, int, int]]],
    ) -> None:
        """Trap records of a conflicting thread, which runs to its next synchronisation.

        Only accesses to granules that another conflicting thread hits, too, are needed.
        """
        timestamp = each.stops[thread]
        setup = analysis_events(self._params, thread, timestamp, each.signatures[thread])
        for hit in hits(self._analysis_unit(), setup, accesses):
            party = RaceParty(thread, timestamp[thread], hit.pc, hit.is_write)
            life = self._index.life(hit.granule, hit.number)
            found[party].add((hit.granule, life, hit.bytes_used))

    def _begin(self, thread: int) -> int:
        """Position of a thread at the checkpoint."""
        return self._index.position(thread, self._checkpoint.progress[thread])

    def _explains(self, races: Iterable[ThreadRace], entry: LogEntry) -> bool:
        """Whether one of the pass's races belongs to the entry's conflict."""
        outside, threads = ~entry.signature, {entry.thread, entry.other}
        return any(
            {race.first.thread, race.second.thread} == threads
            and not self._hash.granule(race.address) & outside
            for race in races
        )


def _is_in(bits: int, signatures: Iterable[int]) -> bool:
    """Whether one of the signatures has all the bits."""
    return any(not bits & ~signature for signature in signatures)


def _epochs(entry: LogEntry) -> _Epochs:
    """Epochs of a conflict, independent of the order of discovery."""
    one = entry.thread, entry.thread_timestamp[entry.thread]
    other = entry.other, entry.other_timestamp[entry.other]
    return (one, other) if one < other else (other, one)
