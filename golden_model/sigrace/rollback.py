"""Rollback: what is done about logged conflicts, by Re-execution and Analysis.

Execution then goes on in Normal mode.  Re-execution has filled the flushed queues again with the
same blocks, so at the place of the rollback they hold what they held: the model leaves them.

Ref: SigRace (ISCA'09) Sections 3.3 and 3.4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from racetrap.golden_model.sigrace.analysis import (
    AnalysisPass,
    analysis_events,
    hits,
    plan_passes,
    races_of,
)
from racetrap.golden_model.sigrace.checkpoint import Checkpoint
from racetrap.golden_model.sigrace.packets import LogEntry
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.reexecution import Reexecution
from racetrap.golden_model.sigrace.result import FirstRace, SigraceStatistics
from racetrap.golden_model.sigrace.signature import signature_hash
from racetrap.golden_model.threads.epoch_index import EpochIndex
from racetrap.golden_model.threads.race import RaceParty, ThreadRace

__all__ = ["Rollback"]

#: Two epochs, each as thread and its own counter.
_Epochs = tuple[tuple[int, int], tuple[int, int]]


class Rollback:
    """Software that handles the RDM's requests.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    index : EpochIndex
        The recorded program.
    checkpoint : Checkpoint
        The last checkpoint; it moves on.
    statistics : SigraceStatistics
        Counts, which are increased.

    Attributes
    ----------
    races : set of ThreadRace
        Races confirmed.
    false_positives : int
        Conflicts analysed that had no race.
    """

    def __init__(
        self,
        params: SigraceParams,
        index: EpochIndex,
        checkpoint: Checkpoint,
        statistics: SigraceStatistics,
    ) -> None:
        self.races: set[ThreadRace] = set()
        self.false_positives = 0
        self._params = params
        self._hash = signature_hash(params)
        self._index = index
        self._checkpoint = checkpoint
        self._statistics = statistics
        # Conflict Signatures that have been analysed.  Epochs are analysed to their end, so what
        # they do later, even after a checkpoint, needs no second look.
        self._saved: dict[_Epochs, int] = {}

    def handle(self, entries: Iterable[LogEntry], reason: str) -> None:
        """Look at logged conflicts; without a new one there is no rollback.

        Parameters
        ----------
        entries : iterable of LogEntry
            The conflict log.
        reason : str
            What asked for the rollback.
        """
        statistics = self._statistics
        logged = list(entries)
        new = [entry for entry in logged if not self._is_known(entry)]
        statistics.conflicts_ignored += len(logged) - len(new)
        if not new:
            return
        statistics.rollbacks[reason] = statistics.rollbacks.get(reason, 0) + 1
        before = statistics.repeated
        found = [race for each in plan_passes(new) for race in self._run(each)]
        self.races.update(found)
        for entry in new:
            epochs = _epochs(entry)
            self._saved[epochs] = self._saved.get(epochs, 0) | entry.signature
        if not found:
            statistics.repeated_for_nothing += statistics.repeated - before
        elif statistics.first_race is None:
            statistics.first_race = FirstRace(
                self._checkpoint.total, statistics.repeated, statistics.repeated_for_nothing
            )

    def _is_known(self, entry: LogEntry) -> bool:
        """Whether all addresses of a conflict have been analysed for its epochs."""
        return not entry.signature & ~self._saved.get(_epochs(entry), 0)

    def _run(self, each: AnalysisPass) -> list[ThreadRace]:
        """Execute again, and analyse."""
        self._statistics.passes += 1
        self._reexecute(each)
        found: defaultdict[RaceParty, set[tuple[int, int]]] = defaultdict(set)
        for thread in each.stops:
            self._analyse(each, thread, found)
        races = list(races_of(found))
        self.false_positives += sum(not self._explains(races, entry) for entry in each.entries)
        return races

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

    def _analyse(
        self,
        each: AnalysisPass,
        thread: int,
        found: defaultdict[RaceParty, set[tuple[int, int]]],
    ) -> None:
        """Execute a conflicting thread to its next synchronisation, with its signature set."""
        index, params = self._index, self._params
        timestamp, signature = each.stops[thread], each.signatures[thread]
        epoch = timestamp[thread]
        first = max(index.start(thread, epoch), self._begin(thread))
        last = index.start(thread, epoch + 1)
        self._statistics.analysed += index.instructions(thread, first, last)
        outside, bits = ~signature, self._hash.granule
        members = [
            granule
            for granule in index.granules(thread, first, last)
            if not bits(granule) & outside
        ]
        accesses = index.accesses(thread, first, last, members)
        setup = analysis_events(params, thread, timestamp, signature)
        for hit in hits(params, setup, accesses):
            party = RaceParty(thread, epoch, hit.pc, hit.is_write)
            found[party].add((hit.granule, index.life(hit.granule, hit.number)))

    def _begin(self, thread: int) -> int:
        """Position of a thread at the checkpoint."""
        return self._index.position(thread, self._checkpoint.progress[thread])

    def _explains(self, races: Iterable[ThreadRace], entry: LogEntry) -> bool:
        """Whether one of the races, which are of the pass, is one of the entry's conflict."""
        outside, threads = ~entry.signature, {entry.thread, entry.other}
        return any(
            {race.first.thread, race.second.thread} == threads
            and not self._hash.granule(race.address) & outside
            for race in races
        )


def _epochs(entry: LogEntry) -> _Epochs:
    """Epochs of a conflict, in either order of discovery the same."""
    one = entry.thread, entry.thread_timestamp[entry.thread]
    other = entry.other, entry.other_timestamp[entry.other]
    return (one, other) if one < other else (other, one)
