"""Result of a run of SigRace over a trace: races, and the costs of finding them.

Ref: SigRace (ISCA'09) Sections 5.4 and 5.5, Table 7.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from racetrap.golden_model.happens_before.race import ThreadRace


@dataclass(frozen=True)
class FirstRace:
    """Instructions until the first race was fully analysed, as Section 5.5 counts them.

    Parameters
    ----------
    committed : int
        Committed until then, by all threads.
    repeated : int
        Executed in Re-execution and Analysis until then.
    repeated_for_nothing : int
        Those of them in rollbacks that found no race.
    """

    committed: int
    repeated: int
    repeated_for_nothing: int

    @property
    def overhead(self) -> float:
        """Repeated instructions as a fraction of the committed ones."""
        return self.repeated / self.committed if self.committed else 0.0


@dataclass
class SigraceStatistics:
    """Counts of a run.

    Parameters
    ----------
    instructions : int
        Instructions committed by all threads, without re-execution.
    blocks, message_bytes : int
        Blocks that were not empty, and bytes of their Summary messages.
    messages : int
        Messages that the RDM has taken.
    comparisons, intersections, hits : int
        Timestamps compared, unordered pairs of blocks among them, and searches of a queue that
        found a predecessor.
    lost : dict
        Messages of thread i that found no predecessor in the full queue of thread j, by (i, j).
    conflicts_dropped, conflicts_ignored : int
        Conflicts lost because the log was full, and those in epochs whose addresses had been
        analysed already.
    conflicts_dismissed, conflicts_unheld : int
        With address rings: conflicts of blocks without a common address, which were not analysed,
        and those analysed because a ring no longer held a block.
    ring_reads, ring_writes : int
        Entries that were read from the rings, and written to them.
    checkpoints : int
        Checkpoints after the start of the program.
    rollbacks : dict of str to int
        Rollbacks by cause: ``full``, ``blocks``, ``sync`` (the RDM's reasons),
        ``checkpoint`` or ``end`` (conflicts were logged when the next checkpoint came, or the
        program's end).
    passes : int
        Re-executions with Analysis: a rollback takes several if its stops are not compatible.
    reexecuted, analysed : int
        Instructions executed in Re-execution and in Analysis mode.
    repeated_for_nothing : int
        Those of them in rollbacks that found no race.
    first_race : FirstRace or None
        Costs until the first race was analysed.
    """

    instructions: int = 0
    blocks: int = 0
    message_bytes: int = 0
    messages: int = 0
    comparisons: int = 0
    intersections: int = 0
    hits: int = 0
    lost: dict[tuple[int, int], int] = field(default_factory=dict)
    conflicts_dropped: int = 0
    conflicts_ignored: int = 0
    conflicts_dismissed: int = 0
    conflicts_unheld: int = 0
    ring_reads: int = 0
    ring_writes: int = 0
    checkpoints: int = 0
    rollbacks: dict[str, int] = field(default_factory=dict)
    passes: int = 0
    reexecuted: int = 0
    analysed: int = 0
    repeated_for_nothing: int = 0
    first_race: FirstRace | None = None

    @property
    def repeated(self) -> int:
        """Instructions executed in Re-execution and Analysis."""
        return self.reexecuted + self.analysed

    @property
    def overhead(self) -> float:
        """Repeated instructions as a fraction of the committed ones, over the whole run."""
        return self.repeated / self.instructions if self.instructions else 0.0


@dataclass(frozen=True)
class SigraceResult:
    """Races of a run, and statistics.

    Parameters
    ----------
    races : list of ThreadRace
        Different races that Analysis has confirmed, ascending.
    false_sharing : list of ThreadRace
        Different pairs of accesses that Analysis has cleared, being to different bytes of one
        granule, ascending.
    conflicts : int
        Conflicts that the RDM has found: pairs of unordered blocks with common bits.
    false_positives : int
        Conflicts analysed that had neither.
    statistics : SigraceStatistics
        Counts.
    """

    races: list[ThreadRace]
    false_sharing: list[ThreadRace]
    conflicts: int
    false_positives: int
    statistics: SigraceStatistics
