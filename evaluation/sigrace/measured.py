"""Measured runs of a program: false positives, lost windows, and message sizes of each.

Ref: SigRace (ISCA'09) Sections 5.2, 5.3 and 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.sigrace.compiled_sigrace import measure_sigrace


@dataclass(frozen=True)
class FalsePositives:
    """Intersections executed, and those not null although the sets are disjoint.

    Parameters
    ----------
    pairs, intersections : int
        Unordered pairs of blocks, and intersections of their signatures: three each.
    false_pairs, false_intersections : int
        Pairs with a false intersection and no true one; intersections that are not null though
        the sets are disjoint.
    true_pairs, true_intersections : int
        Those with common addresses.
    """

    pairs: int
    intersections: int
    false_pairs: int
    false_intersections: int
    true_pairs: int
    true_intersections: int

    @property
    def rate(self) -> float:
        """False-positive rate as in Fig. 7."""
        return self.false_intersections / self.intersections if self.intersections else 0.0

    @property
    def pair_rate(self) -> float:
        """Share of the pairs that would be analysed for nothing."""
        return self.false_pairs / self.pairs if self.pairs else 0.0


@dataclass(frozen=True)
class WindowFigures:
    """One point of Fig. 8.

    Parameters
    ----------
    searches, hits, lost : int
        Searches of a message in a queue, those that found a predecessor, and those that went
        through a full queue without one.
    comparisons : int
        Timestamps compared.
    lost_window : float
        Mean share of the checkpoint interval of which the races with a message could not be
        found any more: from the checkpoint to the block before the oldest entry.
    """

    searches: int
    hits: int
    lost: int
    comparisons: int
    lost_window: float

    @property
    def hit_rate(self) -> float:
        """Share of the searches that found a predecessor."""
        return self.hits / self.searches if self.searches else 0.0

    @property
    def lost_rate(self) -> float:
        """Share of the searches that lost a window; the rest met a queue not yet full."""
        return self.lost / self.searches if self.searches else 0.0

    @property
    def comparisons_per_search(self) -> float:
        """Mean comparisons of a message with a queue."""
        return self.comparisons / self.searches if self.searches else 0.0


@dataclass(frozen=True)
class MessageSizes:
    """Bytes of messages.

    Parameters
    ----------
    messages, total : int
        Messages, and their bytes.
    mean, percentile_99 : float
        Bytes of a message: mean, and what 99 of 100 messages do not exceed.
    instructions : int
        Instructions that the program has committed.
    """

    messages: int
    total: int
    mean: float
    percentile_99: float
    instructions: int

    @property
    def per_1000_instructions(self) -> float:
        """Bytes for each 1,000 committed instructions."""
        return 1000 * self.total / self.instructions if self.instructions else 0.0


@dataclass(frozen=True)
class MeasuredRun:
    """A run of the blocks of a program through the RDM.

    Parameters
    ----------
    instructions, checkpoints : int
        Committed instructions, and checkpoints after the start of the program.
    false_positives : FalsePositives
        Of all unordered pairs of blocks that meet in the queues.
    windows : WindowFigures
        Of all searches.
    messages : MessageSizes
        Of all messages, in the form of the configuration.
    """

    instructions: int
    checkpoints: int
    false_positives: FalsePositives
    windows: WindowFigures
    messages: MessageSizes


def measured_run(sigrace: Sigrace, trace: ThreadTrace, sync_only: bool = False) -> MeasuredRun:
    """Measure a program with one configuration.

    Parameters
    ----------
    sigrace : Sigrace
        The machine.
    trace : ThreadTrace
        The program.
    sync_only : bool
        Whether blocks end at synchronisations only (and at checkpoints), whatever their size.

    Raises
    ------
    ValueError
        If the program does not fit the configuration.
    """
    found = measure_sigrace(sigrace, trace, sync_only)
    counts, sizes = found.statistics, found.message_bytes
    searches = counts.messages * (trace.header.threads - 1)
    return MeasuredRun(
        counts.instructions,
        counts.checkpoints,
        FalsePositives(
            counts.intersections, 3 * counts.intersections, found.false_pairs,
            found.false_intersections, found.true_pairs, found.true_intersections,
        ),
        WindowFigures(
            searches, counts.hits, sum(counts.lost.values()), counts.comparisons,
            found.lost_windows / searches if searches else 0.0,
        ),
        MessageSizes(
            len(sizes), counts.message_bytes, float(sizes.mean()) if len(sizes) else 0.0,
            float(np.percentile(sizes, 99, method="higher")) if len(sizes) else 0.0,
            counts.instructions,
        ),
    )  # fmt: skip
