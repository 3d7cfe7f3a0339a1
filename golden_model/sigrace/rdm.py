"""Race Detection Module: compares every block with the recorded blocks of all other threads.

Ref: SigRace (ISCA'09) Sections 3.2 and 3.3.1, Fig. 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from racetrap.golden_model.sigrace.conflict_log import ConflictLog
from racetrap.golden_model.sigrace.core_to_thread import CoreToThread
from racetrap.golden_model.sigrace.decompressor import decode
from racetrap.golden_model.sigrace.history_queue import HistoryEntry, HistoryQueue
from racetrap.golden_model.sigrace.packets import (
    BlockName,
    Conflict,
    Drop,
    LogEntry,
    RdmStep,
    RdmStepKind,
    Relation,
    Summary,
)
from racetrap.golden_model.sigrace.params import WORD_BITS, SigraceParams
from racetrap.golden_model.sigrace.signature import signature_hash
from racetrap.golden_model.sigrace.timestamp import relation

_DROPPED = {drop: f"dropped_{drop.name.lower()}" for drop in Drop if drop}
#: Its counters, by the register's name in lower case.
COUNTERS = (
    "messages", *_DROPPED.values(), "ignored", "comparisons", "intersections", "conflicts",
    "lost_windows", "log_dropped",
)  # fmt: skip


class Rdm:
    """Takes Summary messages, one after the other, in the order in which they are given.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    unbounded : bool
        Unlimited queues and log, which hardware cannot have.
    when_full : callable or None
        Called if a conflict finds the log full: it empties the log, for which the RDM waits.
        Conflicts then have the names of their blocks.  Without it, the conflict is dropped.

    Attributes
    ----------
    enabled : bool
        Whether messages are checked; if not, only their sequence numbers are tracked.
    queues : list of HistoryQueue
        BlockHistoryQueue of each thread.
    counters : dict of str to int
        Event counters by register name in lower case.
    lost : dict
        Messages of thread i that found no predecessor in the full queue of thread j, by (i, j).
    """

    def __init__(
        self, params: SigraceParams, unbounded: bool = False,
        when_full: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        self._params = params
        self._when_full = when_full
        self._hash = signature_hash(params)
        self._core_to_thread = CoreToThread(params)
        self._log = ConflictLog(params, unbounded)
        self.enabled = True
        self.queues = [HistoryQueue(params, unbounded) for _ in range(params.threads)]
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.lost: dict[tuple[int, int], int] = {}

    @property
    def log(self) -> list[LogEntry]:
        """Conflicts logged, oldest first."""
        return self._log.entries

    @property
    def reasons(self) -> int:
        """``Reason`` of the rollback request; 0 if there is none."""
        return self._log.reasons

    @property
    def expected(self) -> dict[tuple[int, int], int]:
        """Sequence number expected from each (core, context)."""
        return self._core_to_thread.expected

    def map(self, core: int, context: int, thread: int | None) -> None:
        """Map a thread to a context; None: no thread."""
        self._core_to_thread.map(core, context, thread)

    def flush(self) -> None:
        """Empty all queues, as at a checkpoint."""
        for queue in self.queues:
            queue.clear()

    def clear_log(self) -> None:
        """Clear conflicts and the rollback request."""
        self._log.clear()

    def message(self, flits: Sequence[int], link: int) -> list[RdmStep]:
        """Take a message from the link of core ``link``; return its steps."""
        return self.summary(decode(self._params, flits), link)

    def summary(self, summary: Summary, link: int | None = None) -> list[RdmStep]:
        """Take a decompressed message; ``link`` None: that of the core it names."""
        link = summary.core if link is None else link
        if not self.enabled:
            self._core_to_thread.follow(summary, link)
            self.counters["ignored"] += 1
            return []
        drop = self._core_to_thread.check(summary, link)
        if drop:
            self.counters[_DROPPED[drop]] += 1
            return [RdmStep(int(RdmStepKind.DROP), *summary[:5], drop=int(drop))]
        self.counters["messages"] += 1
        steps: list[RdmStep] = []
        lost = 0
        entry = HistoryEntry(summary.timestamp, summary.read, summary.write, self._name(summary))
        for other in range(self._params.threads):
            if other != summary.thread and self._scan(summary, entry.block, other, steps):
                lost |= 1 << other
        self.queues[summary.thread].push(entry)
        self._log.pushed(summary)
        steps.append(
            RdmStep(
                int(RdmStepKind.PUSH), *summary[:5], lost=lost, digest=digest(self._params, entry)
            )
        )
        return steps

    def _name(self, summary: Summary) -> BlockName | None:
        """Name of the block of the message just accepted, if it is needed."""
        if self._when_full is None:
            return None
        place = summary.core, summary.context
        return BlockName(*place, self._core_to_thread.numbers[place] - 1)

    def _scan(
        self, summary: Summary, block: BlockName | None, other: int, steps: list[RdmStep]
    ) -> bool:
        """Compare with a thread's blocks, newest first; return whether the window is lost."""
        core, context, thread, sequence, cause, timestamp, *_ = summary
        queue = self.queues[other]
        for position, entry in enumerate(queue.entries):
            order = relation(entry.timestamp, other, timestamp, thread)
            found = 0
            if order == Relation.UNORDERED:
                self.counters["intersections"] += 1
                found = self._intersect(summary, block, other, entry)
            steps.append(
                RdmStep(
                    int(RdmStepKind.COMPARE), core, context, thread, sequence, cause,
                    other, position, int(order), found,
                )
            )  # fmt: skip
            self.counters["comparisons"] += 1
            if order == Relation.PRECEDES:
                return False
        if not queue.is_full:
            return False
        self.counters["lost_windows"] += 1
        self.lost[thread, other] = self.lost.get((thread, other), 0) + 1
        return True

    def _intersect(
        self, summary: Summary, block: BlockName | None, other: int, entry: HistoryEntry
    ) -> int:
        """``Conflict`` of a message and an unordered block, which is logged."""
        conflict = signature = 0
        for kind, both in (
            (Conflict.READ_WRITE, summary.read & entry.write),
            (Conflict.WRITE_READ, summary.write & entry.read),
            (Conflict.WRITE_WRITE, summary.write & entry.write),
        ):
            if not self._hash.is_null(both):
                conflict |= int(kind)
                signature |= both
        if conflict:
            self.counters["conflicts"] += 1
            if self._when_full is not None and self._log.is_full:
                self._when_full()
            logged = self._log.add(
                LogEntry(
                    summary.thread,
                    other,
                    conflict,
                    summary.timestamp,
                    entry.timestamp,
                    signature,
                    block,
                    entry.block,
                )
            )
            self.counters["log_dropped"] += not logged
        return conflict


def digest(params: SigraceParams, entry: HistoryEntry) -> int:
    """XOR of all words of an entry; timestamp and signatures begin with a new word each."""
    folded = entry.read ^ entry.write
    for index, counter in enumerate(entry.timestamp):
        folded ^= counter << index * params.timestamp_bits
    words = -(-folded.bit_length() // WORD_BITS)
    while words > 1:
        upper = words // 2 * WORD_BITS
        folded = folded >> upper ^ folded & (1 << upper) - 1
        words -= words // 2
    return folded
