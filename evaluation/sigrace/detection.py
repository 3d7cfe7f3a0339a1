"""NumPy engine of the evaluation: the third implementation of SigRace, for whole programs at once.

Beside the golden model, which is the specification, and the hardware: it finds all blocks of a
program, then all searches of the RDM, then all intersections, each by array operations, so that
every configuration can be tried on every program.  It knows the environment ``fixed`` only.
Checkpoints, conflict log and rollbacks are the golden model's own.  Tests prove its results, the
counts included, equal to those of ``Sigrace`` on random and on recorded programs, and its blocks
equal to those of the golden core units.

The engine is ``execution``, ``blocks``, ``windows``, ``signatures``, ``exact_sets``, ``messages``,
``progress`` and this module.

Ref: SigRace (ISCA'09) Sections 3.2 to 3.4 and 5.4, Table 7.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np

from racetrap.evaluation.sigrace.blocks import Blocks, make_blocks
from racetrap.evaluation.sigrace.execution import Execution
from racetrap.evaluation.sigrace.messages import message_bytes
from racetrap.evaluation.sigrace.progress import Progress
from racetrap.evaluation.sigrace.signatures import Signatures
from racetrap.evaluation.sigrace.windows import (
    Searches,
    lost_by_pair,
    make_searches,
    unordered_pairs,
    window_figures,
)
from racetrap.golden_model.happens_before.epoch_index import EpochIndex
from racetrap.golden_model.sigrace.conflict_log import ConflictLog, Reason
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.packets import Cause, Conflict, LogEntry, Summary
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.result import SigraceResult, SigraceStatistics
from racetrap.golden_model.sigrace.rollback import Rollback
from racetrap.golden_model.sigrace.signature import signature_of_granules
from racetrap.golden_model.trace.threads.events import GRANULE_BYTES

__all__ = ["detect"]

_READ_WRITE, _WRITE_READ = int(Conflict.READ_WRITE), int(Conflict.WRITE_READ)
_WRITE_WRITE = int(Conflict.WRITE_WRITE)


def detect(execution: Execution, params: SigraceParams, unbounded: bool = False) -> SigraceResult:
    """Result of the golden model's ``Sigrace`` in the environment ``fixed``, by the NumPy engine.

    Parameters
    ----------
    execution : Execution
        The program, with its checkpoints.
    params : SigraceParams
        Configuration.
    unbounded : bool
        Ideal SigRace: queues and conflict log without limit.

    Raises
    ------
    ValueError
        If the program has more threads than there are contexts or counters, or needs longer
        counters.
    """
    params.check_epochs(int(execution.epochs.epoch.max(initial=0)))
    depth = None if unbounded else params.history_depth
    blocks = make_blocks(execution, params)
    searches = make_searches(execution, blocks)
    run = _Detection(execution, params, blocks, unbounded)
    run.find_conflicts(searches, depth)
    run.handle_messages()
    return run.result(searches, depth)


class _Detection:
    """Conflict log and rollbacks while the messages arrive."""

    def __init__(
        self, execution: Execution, params: SigraceParams, blocks: Blocks, unbounded: bool
    ) -> None:
        self._execution, self._params, self._blocks = execution, params, blocks
        self._log = ConflictLog(params, unbounded)
        self._statistics = SigraceStatistics()
        self._progress = Progress(execution, params)
        unit = CoreUnit(params)
        self._rollback = Rollback(
            params,
            EpochIndex(execution.trace),
            self._progress.checkpoint,
            self._statistics,
            lambda: unit,
        )
        self._conflicts: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        self._signature = cache(self._signature_of_set)

    def find_conflicts(self, searches: Searches, depth: int | None) -> None:
        """All conflicts of all messages, in the order in which they are found."""
        signatures = Signatures(self._params, self._blocks)
        for pairs in unordered_pairs(searches, depth):
            self._statistics.intersections += len(pairs.message)
            found = signatures.conflicts(pairs)
            chosen = np.flatnonzero(found)
            columns = (pairs.message[chosen], pairs.entry[chosen], found[chosen])
            for message, entry, kinds in zip(*(each.tolist() for each in columns), strict=True):
                self._conflicts[message].append((entry, kinds))

    def handle_messages(self) -> None:
        """Log the conflicts, and roll back when it is due."""
        blocks, log = self._blocks, self._log
        columns = (blocks.thread.tolist(), blocks.cause.tolist(), blocks.interval.tolist())
        for message, (thread, cause, interval) in enumerate(zip(*columns, strict=True)):
            self._take_checkpoints(interval)
            self._log_conflicts(message)
            if not log.entries:
                continue
            log.pushed(Summary(0, 0, thread, 0, cause, (), 0, 0))
            if log.reasons and not self._has_follower(message):
                reason = next(each for each in Reason if each & log.reasons)
                self._progress.at_block(blocks, message)
                self._handle(str(reason.name).lower())
        self._take_checkpoints(len(self._execution.checkpoints))
        self._progress.at_event(len(self._execution.trace.events))
        self._handle("end")

    def result(self, searches: Searches, depth: int | None) -> SigraceResult:
        """What has been found, with the counts of the whole run."""
        execution, statistics = self._execution, self._statistics
        figures = window_figures(execution, self._blocks, searches, depth)
        statistics.instructions = int(execution.committed[-1])
        statistics.blocks = statistics.messages = len(self._blocks.thread)
        statistics.message_bytes = int(message_bytes(self._params, self._blocks).sum())
        statistics.comparisons, statistics.hits = figures.comparisons, figures.hits
        statistics.lost = lost_by_pair(self._blocks, searches, depth)
        statistics.checkpoints = len(execution.checkpoints)
        return SigraceResult(
            sorted(self._rollback.races),
            sorted(self._rollback.false_sharing - self._rollback.races),
            sum(map(len, self._conflicts.values())),
            self._rollback.false_positives,
            statistics,
        )

    def _has_follower(self, message: int) -> bool:
        """Whether the same access has ended one more block: its sets had no room either."""
        event, cause = self._blocks.event, self._blocks.cause
        follower = message + 1
        return (
            cause[message] == Cause.FULL
            and follower < len(cause)
            and bool(cause[follower] == Cause.FULL and event[follower] == event[message])
        )

    def _take_checkpoints(self, count: int) -> None:
        """Go on until so many checkpoints have been taken; logged conflicts come first."""
        while self._progress.checkpoints < count:
            event = self._execution.checkpoints[self._progress.checkpoints]
            self._progress.at_event(event)
            self._handle("checkpoint")
            self._progress.take_checkpoint(event)

    def _handle(self, reason: str) -> None:
        if self._log.entries:
            self._rollback.handle(self._log.entries, reason)
            self._log.clear()

    def _log_conflicts(self, message: int) -> None:
        """Log what fits in; to make an entry takes longer than to see that it does not."""
        found = self._conflicts.get(message, [])
        left = len(found)
        while left and self._log.add(self._log_entry(message, *found[-left])):
            left -= 1
        self._statistics.conflicts_dropped += left

    def _log_entry(self, message: int, entry: int, kinds: int) -> LogEntry:
        read, write = self._signature(2 * message), self._signature(2 * message + 1)
        other_read, other_write = self._signature(2 * entry), self._signature(2 * entry + 1)
        signature = read & other_write if kinds & _READ_WRITE else 0
        signature |= write & other_read if kinds & _WRITE_READ else 0
        signature |= write & other_write if kinds & _WRITE_WRITE else 0
        return LogEntry(
            int(self._blocks.thread[message]),
            int(self._blocks.thread[entry]),
            kinds,
            self._progress.timestamp(self._blocks, message),
            self._progress.timestamp(self._blocks, entry),
            signature,
        )

    def _signature_of_set(self, number: int) -> int:
        granules = self._blocks.granule[self._blocks.first[number] : self._blocks.first[number + 1]]
        return signature_of_granules(self._params, (granules * GRANULE_BYTES).tolist())
